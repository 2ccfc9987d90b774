import { bearer, defineProvider } from 'gw/contract';
import { commonTranslators, listedModels } from 'gw/common-wire';

/** Common wire. Only `max_completion_tokens` is sent. Source: Cerebras API reference, "Chat completions", 2026-11-21. */
export default defineProvider({
  name: 'cerebras',
  wire: 'common',
  connection: {
    env: ['CEREBRAS_API_KEY'],
    baseUrl: 'https://api.cerebras.ai/v1',
    authorize: bearer('CEREBRAS_API_KEY'),
  },
  params: {},
  translators: commonTranslators(['chat'], {}, { chat: { ceiling: 'max_completion_tokens' } }),
  passthrough: true,
  responses: true,
  discovery: listedModels,
});
