import { bearer, defineProvider, type Usage } from 'gw/contract';
import { commonTranslators, listedModels } from 'gw/common-wire';
import { rerank } from './rerank.ts';

/** Common wire, but for rerank. Images have no quality and style. See docs/providers.md#what-differs. */
export default defineProvider({
  name: 'deepinfra',
  wire: 'common',
  connection: {
    env: ['DEEPINFRA_API_KEY'],
    baseUrl: 'https://api.deepinfra.com/v1/openai',
    authorize: bearer('DEEPINFRA_API_KEY'),
  },
  params: {},
  // The vendor promises no figures of it; as seen in answers, 2026-11-26.
  costReport: {
    use: 'compare',
    usd: ({ estimated_cost: cost }: Usage) => (typeof cost === 'number' ? cost : undefined),
  },
  translators: {
    ...commonTranslators(
      ['chat', 'embeddings', 'images', 'audio.transcriptions', 'audio.translations', 'audio.speech'],
      {},
      {
        chat: { drops: ['web_search_options'] },
        images: { drops: ['quality', 'style'] },
      },
    ),
    rerank,
  },
  passthrough: true,
  responses: true,
  discovery: listedModels,
});
