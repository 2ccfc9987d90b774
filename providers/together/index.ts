import { bearer, defineProvider } from 'gw/contract';
import { commonTranslators, listedModels, type ChatBody } from 'gw/common-wire';

/** `logprobs` is a count here: as many as asked for, else one. See docs/providers.md#what-differs. */
function countLogprobs({ logprobs, top_logprobs: top, ...body }: ChatBody): ChatBody {
  return logprobs === true ? { ...body, logprobs: top ?? 1 } : body;
}

/** Common wire; its list of models is a bare array. Images have no quality and style, speech no speed. See docs/providers.md#what-differs. */
export default defineProvider({
  name: 'together',
  wire: 'common',
  connection: {
    env: ['TOGETHER_API_KEY'],
    baseUrl: 'https://api.together.ai/v1',
    authorize: bearer('TOGETHER_API_KEY'),
  },
  params: {},
  // Source: docs.litellm.ai, "Providers", 2026-11-05; Portkey-AI/gateway, src/globals.ts, 2026-11-22.
  elsewhere: { litellm: { names: ['together_ai'] }, portkey: { names: ['together-ai'] } },
  translators: commonTranslators(
    ['chat', 'embeddings', 'images', 'rerank', 'audio.transcriptions', 'audio.translations', 'audio.speech'],
    {},
    {
      chat: { drops: ['web_search_options'], adjust: countLogprobs },
      images: { drops: ['quality', 'style'] },
      'audio.speech': { drops: ['speed'] },
    },
  ),
  passthrough: true,
  responses: true,
  discovery: listedModels,
});
