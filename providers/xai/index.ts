import { bearer, defineProvider, type Usage } from 'gw/contract';
import { addAll, type ChatBody, commonTranslators, listedModels, type Notes } from 'gw/common-wire';
import { outOfBounds } from '../_common/bounds.ts';

/** Source: @ai-sdk/xai 3.0.138, 2026-11-26. */
function withFewLogprobs(body: ChatBody, notes: Notes): ChatBody {
  const { fields, names } = outOfBounds(body, { top_logprobs: [0, 8] });
  if (names.length === 0) return body;
  addAll(notes.bounded, names);
  return { ...body, ...fields };
}

/** Parts of a US dollar that the vendor counts in. */
const TICKS = 1e10;

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
      chat: { drops: ['web_search_options'], adjust: withFewLogprobs, responses: { isAutomatic: true } },
      images: { drops: ['size', 'quality', 'style'] },
    },
  ),
  passthrough: true,
  responses: 'native',
  discovery: listedModels,
  // With tools and discounts in it. Source: docs.x.ai, "Cost tracking", 2026-11-26.
  costReport: {
    use: 'prefer',
    usd: ({ cost_in_usd_ticks: ticks }: Usage) => (typeof ticks === 'number' ? ticks / TICKS : undefined),
  },
});
