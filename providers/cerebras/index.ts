import { bearer, defineProvider } from 'gw/contract';
import { commonTranslators, listedModels } from 'gw/common-wire';

/**
 * Common wire. Only `max_completion_tokens` is sent, and no thoughts of earlier turns: they are answered with 400. See
 * docs/reference/providers.md#token-ceilings. Source: QwenLM/qwen-code issue 11045.
 */
export default defineProvider({
  name: 'cerebras',
  wire: 'common',
  connection: {
    env: ['CEREBRAS_API_KEY'],
    baseUrl: 'https://api.cerebras.ai/v1',
    authorize: bearer('CEREBRAS_API_KEY'),
  },
  params: {},
  translators: commonTranslators(
    ['chat'],
    {},
    {
      chat: {
        ceiling: 'max_completion_tokens',
        drops: ['web_search_options'],
        messageDrops: ['reasoning_details', 'annotations', 'images'],
        callDrops: ['extra_content'],
      },
    },
  ),
  passthrough: true,
  responses: true,
  discovery: listedModels,
});
