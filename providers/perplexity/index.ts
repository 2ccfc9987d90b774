import { bearer, defineProvider } from 'gw/contract';
import { commonTranslators } from 'gw/common-wire';
import { editStream, withSources } from './answers.ts';
import { adjust } from './request.ts';

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
  // Source: Portkey-AI/gateway, src/globals.ts, 2026-11-22.
  elsewhere: { portkey: { names: ['perplexity-ai'] } },
  translators: commonTranslators(['chat'], {}, { chat: { adjust, adjustReply: withSources, editStream } }),
  passthrough: true,
  responses: true,
});
