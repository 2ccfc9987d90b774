import { bearer, defineProvider } from 'gw/contract';
import { commonTranslators, listedModels } from 'gw/common-wire';

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
  translators: commonTranslators(['chat', 'embeddings'], {}),
  passthrough: true,
  batches: true,
  responses: true,
  discovery: listedModels,
});
