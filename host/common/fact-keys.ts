import { type Fields, isFields, type ModelFacts, setMember } from '../contract/index.ts';

/** What each fact of a model may be: true or false, or one of these words. */
export const FACT_KEYS: { readonly [Key in keyof Required<ModelFacts>]: 'flag' | readonly ModelFacts[Key][] } = {
  late_system: 'flag',
  binds_thoughts: 'flag',
  thoughts_back: ['refused', 'none', 'every_turn', 'tool_turns', 'sealed', 'signed', 'parts', 'details'],
  thoughts_field: ['reasoning_content', 'reasoning', 'content', 'reasoning_details'],
};

const KEYS: ReadonlyMap<string, 'flag' | readonly unknown[]> = new Map(Object.entries(FACT_KEYS));

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
  const takes = KEYS.get(key);
  if (takes === undefined) return `is not a fact of a model: ${[...KEYS.keys()].join(', ')}`;
  if (value === null) return undefined;
  if (takes === 'flag') return typeof value === 'boolean' ? undefined : 'must be true or false';
  return takes.includes(value) ? undefined : `must be one of ${takes.join(', ')}`;
}

/** Facts with these changes laid over them, key by key. */
export function changedFacts(facts: ModelFacts, changes: FactChanges): ModelFacts {
  const known = Object.entries({ ...facts, ...changes }).filter(([, value]) => value !== null);
  return Object.freeze(Object.fromEntries(known));
}
