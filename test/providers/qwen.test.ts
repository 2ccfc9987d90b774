import qwen from '../../providers/qwen/index.ts';
import { FORWARDED, itForwardsChat, itForwardsEmbeddings, itServes } from './support.ts';

describe('qwen', () => {
  itServes(qwen, 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1', ['chat', 'embeddings'], {
    ...FORWARDED,
    batches: true,
  });
  itForwardsChat(qwen);
  itForwardsEmbeddings(qwen);
});
