import { EFFORTS, type Fields, isFields, type ModelFacts, setMember } from '../contract/index.ts';

/** What a fact may be: true or false, one of some words, a list of some words or of any, a number of tokens, a least and a most, or sizes of images. */
export type FactShape =
  | 'flag'
  | 'names'
  | 'tokens'
  | 'range'
  | 'sizes'
  | { readonly one: Words }
  | { readonly list: Words };
type Words = readonly string[];

const WITHOUT_OFF = EFFORTS.filter((effort) => effort !== 'none');

/** What each fact of a model may be. */
export const FACT_KEYS: { readonly [Key in keyof Required<ModelFacts>]: FactShape } = {
  efforts: { list: EFFORTS },
  effort_default: { one: EFFORTS },
  endpoints: { list: ['chat', 'responses'] },
  chat_tools: { one: ['any', 'absent_or_none', 'none_only', 'never'] },
  chat_search: 'flag',
  sampling: { one: ['always', 'one', 'effort_none', 'never'] },
  refuses: 'names',
  ceiling: { one: ['max_completion_tokens', 'max_tokens', 'both'] },
  max_output: 'tokens',
  system_role: { one: ['developer', 'system'] },
  summaries: 'flag',
  phases: 'flag',
  thinking: { one: ['none', 'effort', 'budget', 'level', 'adaptive', 'switch'] },
  thinking_default: { one: ['on', 'off'] },
  thinking_off: { one: ['yes', 'no', 'between_tools', ...WITHOUT_OFF.map((effort) => `up_to:${effort}`)] },
  budget: 'range',
  thinking_budget: 'flag',
  forced_tool: { one: ['any', 'not_thinking', 'never'] },
  prefill: 'flag',
  schema: { one: ['json_schema', 'json_object', 'none'] },
  image_sizes: 'sizes',
  late_system: 'flag',
  binds_thoughts: 'flag',
  thoughts_back: { one: ['refused', 'none', 'every_turn', 'tool_turns', 'sealed', 'signed', 'parts', 'details'] },
  thoughts_field: { one: ['reasoning_content', 'reasoning', 'content', 'reasoning_details'] },
};

const KEYS: ReadonlyMap<string, FactShape> = new Map(Object.entries(FACT_KEYS));

/** Facts as they were written; `null` takes back what an earlier rule says. */
export type FactChanges = { readonly [Key in keyof ModelFacts]: ModelFacts[Key] | null };

/** What is wrong with a value, by its key. */
export interface FactProblem {
  readonly key: string;
  /** Whether this gateway does not know the key at all: a newer file may hold it. */
  readonly isUnknown: boolean;
  readonly message: string;
}

/** The facts that a `set` states, and what of it cannot be used. */
export function readFacts(set: unknown): { readonly facts: FactChanges; readonly problems: readonly FactProblem[] } {
  if (!isFields(set)) return { facts: {}, problems: [{ key: '', isUnknown: false, message: 'must be an object' }] };
  const facts: Fields = {};
  const problems: FactProblem[] = [];
  for (const [key, value] of Object.entries(set)) {
    const message = problemOf(key, value);
    if (message === undefined) setMember(facts, key, value);
    else problems.push({ key, isUnknown: !KEYS.has(key), message });
  }
  return { facts, problems };
}

function problemOf(key: string, value: unknown): string | undefined {
  const shape = KEYS.get(key);
  if (shape === undefined) return `is not a fact of a model: ${[...KEYS.keys()].join(', ')}`;
  return value === null ? undefined : shapeProblem(shape, value);
}

function shapeProblem(shape: FactShape, value: unknown): string | undefined {
  if (shape === 'flag') return typeof value === 'boolean' ? undefined : 'must be true or false';
  if (shape === 'tokens') return isTokens(value) ? undefined : 'must be a whole number of tokens';
  if (shape === 'names') return isListOf(value, isName) ? undefined : 'must be a list of names';
  if (shape === 'sizes')
    return isSizes(value) ? undefined : 'must be a list of sizes, or {multiple, ratio: [least, most], most}';
  if (shape === 'range') return isRange(value) ? undefined : 'must be [least, most], two whole numbers of tokens';
  if ('one' in shape) return isOneOf(shape.one)(value) ? undefined : `must be one of ${shape.one.join(', ')}`;
  if (!isListOf(value, isOneOf(shape.list))) return `must be a list of ${shape.list.join(', ')}`;
  return isAscending(value as Words, shape.list) ? undefined : `must be in this order: ${shape.list.join(', ')}`;
}

const isTokens = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const isName = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isListOf = (value: unknown, isMember: (each: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(isMember);
const isOneOf =
  (words: Words) =>
  (value: unknown): boolean =>
    typeof value === 'string' && words.includes(value);
/** Whether each word is there once, in the order of all of them. */
const isAscending = (words: Words, all: Words): boolean =>
  words.every((word, at) => at === 0 || all.indexOf(word) > all.indexOf(words[at - 1] ?? ''));
const isSizes = (value: unknown): boolean => {
  if (!isFields(value)) return isListOf(value, isName);
  const { multiple, ratio, most } = value;
  return isTokens(multiple) && isListOf(ratio, isName) && isName(most);
};
const isRange = (value: unknown): boolean => {
  if (!isListOf(value, isTokens)) return false;
  const [least, most, ...more] = value as readonly number[];
  return least !== undefined && most !== undefined && least <= most && more.length === 0;
};

/** Facts with these changes laid over them, key by key. */
export function changedFacts(facts: ModelFacts, changes: FactChanges): ModelFacts {
  const known = Object.entries({ ...facts, ...changes }).filter(([, value]) => value !== null);
  return Object.freeze(Object.fromEntries(known));
}
