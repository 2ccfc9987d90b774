import { bearer, defineProvider } from 'gw/contract';
import { commonTranslators, type Fields, listedModels, translateWebSearch } from 'gw/common-wire';

/** A switch, without a place and a size. Source: Alibaba Cloud Model Studio, "OpenAI compatible - Chat", `enable_search`, 2026-11-22. */
const search = (): Fields => ({ enable_search: true });

/** Common wire in DashScope's compatible mode, with files and batches. Source: providers reference 1.5. */
export default defineProvider({
  name: 'qwen',
  wire: 'common',
  connection: {
    env: ['QWEN_API_KEY'],
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    authorize: bearer('QWEN_API_KEY'),
  },
  params: {},
  translators: commonTranslators(['chat', 'embeddings'], {}, {
    chat: { adjust: (body, notes) => translateWebSearch(body, notes, search, ['contextSize', 'location']) },
  }),
  passthrough: true,
  batches: true,
  responses: true,
  discovery: listedModels,
});
