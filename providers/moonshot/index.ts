import { bearer, type CallInfo, defineProvider, NO_FACTS } from 'gw/contract';
import { type ChatBody, commonTranslators, isGiven, listedModels, type Notes } from 'gw/common-wire';

/**
 * Some models know no effort but a switch, and others an effort and no switch: those think whatever is said. Source: Kimi
 * platform documentation, "Use thinking effort" and "Use the Kimi K2 thinking model", 2026-11-22; @ai-sdk/moonshotai 3.0.60.
 */
function ownThinking(body: ChatBody, notes: Notes, { facts = NO_FACTS }: CallInfo): ChatBody {
  const { reasoning_effort: effort, thinking, ...rest } = body;
  if (facts.thinking === 'effort' && isGiven(thinking)) {
    notes.ignored.push('thinking');
    return isGiven(effort) ? { ...rest, reasoning_effort: effort } : rest;
  }
  const isSwitched = facts.thinking === 'switch' && facts.thinking_off === 'yes';
  if (effort === 'none') {
    if (isSwitched) return { ...rest, thinking: { type: 'disabled' } };
    notes.ignored.push('reasoning_effort');
    return isGiven(thinking) ? { ...rest, thinking } : rest;
  }
  if (facts.thinking !== 'switch' || !isGiven(effort)) return body;
  notes.bounded.push('reasoning_effort');
  const asked = thinking ?? (isSwitched ? { type: 'enabled' } : undefined);
  return asked === undefined ? rest : { ...rest, thinking: asked };
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
  translators: commonTranslators(['chat'], {}, { chat: { drops: ['web_search_options'], adjust: ownThinking } }),
  passthrough: true,
  responses: true,
  discovery: listedModels,
});
