import { bearer, type ChatReply, defineProvider } from 'gw/contract';
import { commonTranslators, isGiven } from 'gw/common-wire';

const SEARCH_FIELDS = new Set(['citations', 'search_results', 'images', 'related_questions']);

/** What the search found goes on as `provider_metadata`. Source: providers reference 4.4. */
function withMetadata(reply: ChatReply): ChatReply {
  const found = Object.entries(reply).filter(([name, value]) => SEARCH_FIELDS.has(name) && isGiven(value));
  if (found.length === 0) return reply;
  const rest = Object.entries(reply).filter(([name]) => !SEARCH_FIELDS.has(name));
  return { ...(Object.fromEntries(rest) as ChatReply), provider_metadata: Object.fromEntries(found) };
}

/** Common wire below the bare host. Source: providers reference 1.1 and 6. */
export default defineProvider({
  name: 'perplexity',
  wire: 'common',
  connection: {
    env: ['PERPLEXITY_API_KEY'],
    baseUrl: 'https://api.perplexity.ai',
    authorize: bearer('PERPLEXITY_API_KEY'),
  },
  params: {},
  translators: commonTranslators(['chat'], {}, { chat: { adjustReply: withMetadata } }),
  passthrough: true,
  responses: true,
});
