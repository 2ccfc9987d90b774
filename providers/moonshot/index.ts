import { bearer, defineProvider } from 'gw/contract';
import { type ChatBody, commonTranslators, listedModels, type Notes } from 'gw/common-wire';

/**
 * Only these models think unless the request says otherwise, in a field of the vendor's; later ones always think. Source: Kimi platform
 * documentation, "Use thinking effort" and "Use the Kimi K2 thinking model", 2026-11-22.
 */
const MAY_BE_TOLD = /^kimi-k2\.[56]\b/;

function withoutThinking(body: ChatBody, notes: Notes): ChatBody {
  const { reasoning_effort: effort, ...rest } = body;
  if (effort !== 'none') return body;
  if (MAY_BE_TOLD.test(String(body['model']))) return { ...rest, thinking: { type: 'disabled' } };
  notes.ignored.push('reasoning_effort');
  return rest;
}

/** Common wire; thinking is switched off by a field of the vendor's. See docs/providers.md#what-differs. */
export default defineProvider({
  name: 'moonshot',
  wire: 'common',
  connection: {
    env: ['MOONSHOT_API_KEY'],
    baseUrl: 'https://api.moonshot.ai/v1',
    authorize: bearer('MOONSHOT_API_KEY'),
  },
  params: {},
  // See docs/reference/ingress.md#what-is-lost.
  chatTraits: { history: { marks: 'unasked' } },
  translators: commonTranslators(['chat'], {}, { chat: { drops: ['web_search_options'], adjust: withoutThinking } }),
  passthrough: true,
  responses: true,
  discovery: listedModels,
});
