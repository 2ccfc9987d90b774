import { bearer, defineProvider } from 'gw/contract';
import { commonTranslators } from 'gw/common-wire';

/** The common wire is this provider's own. Only `max_completion_tokens` is sent. Source: API reference, "Chat", 2026-11-21. */
export default defineProvider({
  name: 'openai',
  wire: 'common',
  connection: {
    env: ['OPENAI_API_KEY'],
    baseUrl: 'https://api.openai.com/v1',
    authorize: bearer('OPENAI_API_KEY'),
    headersTimeoutMs: 30_000,
  },
  params: {},
  translators: commonTranslators(['chat'], {}, { chat: { ceiling: 'max_completion_tokens' } }),
  passthrough: true,
  batches: true,
  responses: true,
});
