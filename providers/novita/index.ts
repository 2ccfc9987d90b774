import { bearer, defineProvider } from 'gw/contract';
import { commonTranslators, listedModels } from 'gw/common-wire';

/** Common wire, with files and batches. See docs/providers.md#providers. */
export default defineProvider({
  name: 'novita',
  wire: 'common',
  connection: {
    env: ['NOVITA_API_KEY'],
    baseUrl: 'https://api.novita.ai/openai/v1',
    authorize: bearer('NOVITA_API_KEY'),
  },
  params: {},
  // Source: Portkey-AI/gateway, src/globals.ts, 2026-11-22.
  elsewhere: { portkey: { names: ['novita-ai'] } },
  translators: commonTranslators(['chat', 'embeddings'], {}, { chat: { drops: ['web_search_options'] } }),
  passthrough: true,
  batches: true,
  responses: true,
  discovery: listedModels,
});
