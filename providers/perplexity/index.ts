import { bearer, defineProvider, type Usage } from 'gw/contract';
import { commonTranslators, isFields } from 'gw/common-wire';
import { editStream, withSources } from './answers.ts';
import { adjust } from './request.ts';

const amountOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

/** Common wire below the bare host. See docs/providers.md#what-differs. */
export default defineProvider({
  name: 'perplexity',
  wire: 'common',
  connection: {
    env: ['PERPLEXITY_API_KEY'],
    baseUrl: 'https://api.perplexity.ai',
    authorize: bearer('PERPLEXITY_API_KEY'),
    keyShapes: [{ shape: 'pplx-[A-Za-z0-9]{20,}', shownAs: 'PERPLEXITY_KEY' }],
  },
  params: {},
  // Source: docs.perplexity.ai, "Chat completions", `usage.cost`, 2026-11-26.
  costReport: { use: 'prefer', usd: ({ cost }: Usage) => (isFields(cost) ? amountOf(cost['total_cost']) : undefined) },
  // Source: Portkey-AI/gateway, src/globals.ts, 2026-11-22.
  elsewhere: { portkey: { names: ['perplexity-ai'] } },
  translators: commonTranslators(['chat'], {}, { chat: { adjust, adjustReply: withSources, editStream } }),
  passthrough: true,
  responses: true,
});
