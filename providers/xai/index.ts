import { bearer, defineProvider } from 'gw/contract';
import { commonTranslators, listedModels } from 'gw/common-wire';

/**
 * Common wire. A search of the web is answered with 410 here since it belongs to the vendor's other API. Images have one
 * size, quality and style. Source: vercel/ai pull request 15713, 2026-05-29. See docs/reference/providers.md#images.
 */
export default defineProvider({
  name: 'xai',
  wire: 'common',
  connection: {
    env: ['XAI_API_KEY'],
    baseUrl: 'https://api.x.ai/v1',
    authorize: bearer('XAI_API_KEY'),
  },
  params: {},
  // See docs/reference/ingress.md#what-is-lost and docs/reference/ingress.md#late-system-messages.
  chatTraits: { history: { marks: 'unasked', late_system: true } },
  // Source: semantic conventions 1.45 of OpenTelemetry, 2026-11-23.
  names: { telemetry: 'x_ai' },
  // Source: docs.litellm.ai, "Providers", 2026-11-05; Portkey-AI/gateway, src/globals.ts, 2026-11-22.
  elsewhere: { litellm: { models: ['grok'] }, portkey: { names: ['x-ai'] } },
  translators: commonTranslators(
    ['chat', 'images'],
    {},
    {
      chat: { drops: ['web_search_options'], responses: { isAutomatic: true } },
      images: { drops: ['size', 'quality', 'style'] },
    },
  ),
  passthrough: true,
  responses: 'native',
  discovery: listedModels,
});
