import { type Fields, isFields } from '../../../host/contract/index.ts';
import type { Notes } from '../notes.ts';
import { WORDS } from '../words.ts';

const { 'thinking.type': TYPES, 'thinking.display': DISPLAYS, 'output_config.effort': EFFORTS } = WORDS.messages;
/** Most tokens of a budget that an effort stands for. See docs/reference/ingress.md#effort. */
const BUDGETS = [
  [2048, 'low'],
  [8192, 'medium'],
  [16_384, 'high'],
  [24_576, 'xhigh'],
] as const;
const MIN_BUDGET = 1024;
/** Members that are read; only the vendor of this wire has others. */
const MEMBERS: ReadonlySet<string> = new Set(['type', 'display']);

/** How much the model is to think, as the common format says it. */
export function readEffort(
  { thinking, output_config: config, max_tokens: maxTokens }: Readonly<Fields>,
  notes: Notes,
): string | undefined {
  const effort = isFields(config) ? notes.word(config['effort'], EFFORTS, 'output_config.effort') : undefined;
  if (thinking === undefined || thinking === null) return effort;
  if (!isFields(thinking)) {
    notes.refuse('thinking must be an object');
    return effort;
  }
  notes.word(thinking['display'], DISPLAYS, 'thinking.display');
  switch (readType(thinking, notes)) {
    case 'disabled':
    case 'between_tools':
      return 'none';
    case 'enabled':
      return budgetEffort(thinking['budget_tokens'], maxTokens, notes);
    default:
      return effort;
  }
}

/** `undefined` where the vendor has a way to think that no other wire has a word for: then `thinking` is lost as a whole. */
function readType(thinking: Readonly<Fields>, notes: Notes): (typeof TYPES)[number] | undefined {
  const given = Object.keys(thinking).filter((name) => isGiven(thinking[name]));
  const known = notes.word(thinking['type'], TYPES, 'thinking.type', 'thinking');
  if (given.length === 0) notes.refuse('thinking.type is required');
  else if (!isGiven(thinking['type'])) notes.lose('thinking');
  for (const name of known ? given : [])
    if (!MEMBERS.has(name) && !(name === 'budget_tokens' && known === 'enabled')) notes.lose(`thinking.${name}`);
  return known;
}

function budgetEffort(budget: unknown, maxTokens: unknown, notes: Notes): string {
  if (typeof budget !== 'number' || !Number.isInteger(budget) || budget < MIN_BUDGET)
    notes.refuse(`thinking.budget_tokens must be an integer of at least ${MIN_BUDGET}`);
  else if (typeof maxTokens === 'number' && budget >= maxTokens)
    notes.refuse('thinking.budget_tokens must be less than max_tokens');
  return BUDGETS.find(([most]) => Number(budget) <= most)?.[1] ?? 'max';
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/** The member by which the client asked for it. */
export function effortPath({ thinking }: Readonly<Fields>): string {
  const type = isFields(thinking) ? TYPES.find((word) => word === thinking['type']) : undefined;
  return type === undefined || type === 'adaptive' ? 'output_config.effort' : 'thinking';
}

/** Whether the client asks to see what the model thinks. */
export const showsThoughts = ({ thinking }: Readonly<Fields>): boolean =>
  isFields(thinking) &&
  (thinking['type'] === 'enabled' || thinking['type'] === 'adaptive') &&
  thinking['display'] !== 'omitted';

/** Whether thoughts are to come without their text. */
export const hidesThoughts = ({ thinking }: Readonly<Fields>): boolean =>
  isFields(thinking) && thinking['display'] === 'omitted';
