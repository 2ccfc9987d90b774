import novita from '../../providers/novita/index.ts';
import { FORWARDED, itForwardsChat, itForwardsEmbeddings, itServes } from './support.ts';

describe('novita', () => {
  itServes(novita, 'https://api.novita.ai/openai/v1', ['chat', 'embeddings'], { ...FORWARDED, batches: true });
  itForwardsChat(novita);
  itForwardsEmbeddings(novita);
});
