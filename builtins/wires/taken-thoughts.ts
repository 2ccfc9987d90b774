import { type ChatMessage, type Fields, isFields, isText, type ModelFacts } from '../../host/contract/index.ts';
import { isSealedBy } from '../../host/common/sealed-thoughts.ts';
import type { TargetFacts } from '../../host/wire/client-request.ts';
import type { NotedHistory, ItemNote, ThoughtNote, TurnFacts } from './history-notes.ts';
import { goesToResponses } from './targets.ts';

/** What a target takes of thoughts in earlier turns. See docs/reference/ingress.md#thoughts-of-earlier-turns. */
interface Taking {
  /** Whether the text of a turn's thoughts is read. */
  readonly text: (turn: TurnFacts) => boolean;
  readonly item: (item: ItemNote, turn: TurnFacts) => boolean;
  /** Whether items need the text beside them: they name their places in it. */
  readonly itemsNeedText: boolean;
}

const NOTHING: Taking = { text: () => false, item: () => false, itemsNeedText: false };
const isEvery = (): boolean => true;

function takingOf(target: TargetFacts): Taking {
  if (goesToResponses(target)) return bySeal(target);
  if (target.leavesThoughts) return NOTHING;
  return target.wire === 'common' ? byFacts(target.facts) : byTranslator(target);
}

/** The Responses API takes what it has sealed itself, and no text. Phases of messages are not thoughts: they stay where those are left behind. */
function bySeal({ provider, facts: { thoughts_back: back }, leavesThoughts = false }: TargetFacts): Taking {
  const takesSealed = back === 'sealed' && !leavesThoughts;
  return {
    ...NOTHING,
    item: ({ format, origin, isSigned }) => isSealedBy(provider, { format, origin }) && (takesSealed || !isSigned),
  };
}

/** On the common wire the model decides, wherever it is hosted, and one that no rule knows gets nothing. */
function byFacts({ thoughts_back: back, thoughts_field: field }: ModelFacts): Taking {
  switch (back) {
    case 'every_turn':
      return { ...NOTHING, text: isEvery };
    case 'tool_turns':
      return { ...NOTHING, text: ({ calls }) => calls.size > 0 };
    case 'none':
      return field === undefined ? NOTHING : { ...NOTHING, text: isEvery };
    case 'parts':
      return { ...NOTHING, text: ({ saysMore }) => saysMore };
    case 'details':
      return { ...NOTHING, text: ({ hasItems }) => field !== undefined || !hasItems, item: isEvery };
    default:
      return NOTHING;
  }
}

function byTranslator({ facts: { thoughts_back: back }, traits: { history } }: TargetFacts): Taking {
  const { thoughts } = history ?? {};
  if (thoughts === undefined || back === 'refused' || back === 'none') return NOTHING;
  if (thoughts === 'tool_turns') return { ...NOTHING, text: ({ calls }) => calls.size > 0 };
  return {
    ...NOTHING,
    item: ({ format, isSigned, id }, { calls }) =>
      isSigned && isText(format) && thoughts.includes(format) && (!isText(id) || calls.has(id)),
    itemsNeedText: true,
  };
}

export const itemNote = ({ format, origin, signature, data, id }: Readonly<Fields>): ItemNote => ({
  format,
  origin,
  id,
  isSigned: isText(signature) || isText(data),
});

/** Paths of the thoughts that a target does not get, neither their text nor what its vendor sealed. */
export function lostThoughts({ turns }: NotedHistory, target: TargetFacts): string[] {
  const taking = takingOf(target);
  return turns.flatMap(({ facts, thoughts }) => {
    const takesText = taking.text(facts);
    const takesItem = (item: ItemNote): boolean => taking.item(item, facts);
    return thoughts.filter((thought) => isLost(thought, takesText, takesItem)).map(({ path }) => path);
  });
}

function isLost({ hasText, items }: ThoughtNote, takesText: boolean, takesItem: (item: ItemNote) => boolean): boolean {
  if (hasText && takesText) return false;
  return items.length === 0 ? hasText : !items.every(takesItem);
}

/** A message with the thoughts that the target takes; `undefined` for a turn that held nothing else. */
export function thoughtfulMessage(message: ChatMessage, target: TargetFacts): ChatMessage | undefined {
  if (message.role !== 'assistant') return message;
  const { reasoning_content: text, reasoning_details: details, ...rest } = message;
  const items = Array.isArray(details) ? details.filter(isFields) : [];
  if (!isText(text) && items.length === 0) return message;
  const taking = takingOf(target);
  const turn = {
    calls: new Set((message.tool_calls ?? []).map(({ id }) => id)),
    saysMore: saysMore(message),
    hasItems: items.length > 0,
  };
  const kept = items.filter((item) => taking.item(itemNote(item), turn));
  const keepsText = isText(text) && (taking.text(turn) || (taking.itemsNeedText && kept.length > 0));
  if (kept.length === 0 && !keepsText && !turn.saysMore) return undefined;
  return {
    ...rest,
    ...(keepsText && { reasoning_content: text }),
    ...(kept.length > 0 && { reasoning_details: kept }),
  };
}

function saysMore({ content, tool_calls: calls, refusal }: ChatMessage): boolean {
  return (content?.length ?? 0) > 0 || (calls?.length ?? 0) > 0 || isText(refusal);
}
