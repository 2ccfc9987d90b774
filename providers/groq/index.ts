import { bearer, defineProvider } from 'gw/contract';
import { commonTranslators, listedModels } from 'gw/common-wire';
import { withSearch } from './search.ts';

/**
 * The first three and `messages[].name` are answered with 400, the penalties are read without effect.
 * Source: Groq documentation, "OpenAI compatibility", 2026-11-21.
 */
const params = {
  logprobs: 'unsupported',
  top_logprobs: 'unsupported',
  logit_bias: 'unsupported',
  presence_penalty: 'unsupported',
  frequency_penalty: 'unsupported',
} as const;

/**
 * Common wire. Only `max_completion_tokens` is sent; names of messages and thoughts of earlier turns are answered with 400.
 * The role `developer` is known. Source: janhq/jan issue 8136; groq-sdk 1.6.0, ChatCompletionSystemMessageParam, 2026-11-22.
 */
export default defineProvider({
  name: 'groq',
  wire: 'common',
  connection: {
    env: ['GROQ_API_KEY'],
    baseUrl: 'https://api.groq.com/openai/v1',
    authorize: bearer('GROQ_API_KEY'),
    keyShapes: [{ shape: 'gsk_[A-Za-z0-9]{20,}', shownAs: 'GROQ_KEY' }],
  },
  params,
  // See docs/reference/ingress.md#what-is-lost and docs/reference/ingress.md#messages-the-request.
  chatTraits: { history: { marks: 'unasked' }, fields: ['service_tier'] },
  bannerPlace: 4,
  translators: commonTranslators(['chat', 'audio.transcriptions', 'audio.translations', 'audio.speech'], params, {
    chat: {
      ceiling: 'max_completion_tokens',
      knowsDeveloper: true,
      messageDrops: ['name', 'annotations', 'images'],
      callDrops: ['extra_content'],
      adjust: withSearch,
    },
  }),
  passthrough: true,
  batches: true,
  responses: true,
  discovery: listedModels,
});
