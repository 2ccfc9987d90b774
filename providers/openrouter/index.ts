import { bearer, defineProvider } from 'gw/contract';
import { commonTranslators, listedModels } from 'gw/common-wire';

/** Common wire over many vendors, so it takes any model id. Embeddings come as base64 on request. Source: OpenRouter SDK reference, "EncodingFormat", 2026-11-21. */
export default defineProvider({
  name: 'openrouter',
  wire: 'common',
  connection: {
    env: ['OPENROUTER_API_KEY'],
    baseUrl: 'https://openrouter.ai/api/v1',
    authorize: bearer('OPENROUTER_API_KEY'),
  },
  params: {},
  translators: commonTranslators(['chat', 'embeddings'], {}, { embeddings: { encodingFormat: 'any' } }),
  passthrough: true,
  responses: true,
  anyModel: true,
  discovery: listedModels,
});
