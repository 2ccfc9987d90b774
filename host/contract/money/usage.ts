import { countOf, type Fields } from '../json/fields.ts';
import { setMember } from '../json/members.ts';
import type { Usage } from '../wire/chat.ts';
import { BILLED, type UsageFacts } from './usage-facts.ts';

const NONE: Readonly<Fields> = Object.freeze({});
const fieldsOf = (value: unknown): Readonly<Fields> =>
  typeof value === 'object' && value !== null ? (value as Fields) : NONE;

const KNOWN = new Set([
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'reasoning_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'prompt_tokens_details',
  'completion_tokens_details',
  'prompt_cache_hit_tokens',
  'prompt_cache_miss_tokens',
  'cached_tokens',
  'num_cached_tokens',
  'prompt_token_details',
]);

/**
 * The most of one class of tokens that is believed of one answer. A larger number is a mistake of
 * the vendor, and would empty a budget at once.
 */
export const MOST_TOKENS = 10_000_000;

/** Sums that every answer states, if it states any. */
const SUMS = ['prompt_tokens', 'completion_tokens'] as const;

/** Adds the names of sums that are there and are not counts. A name is added once. */
function collectDoubts(raw: Readonly<Fields>, doubts: string[]): void {
  for (const name of SUMS) {
    const value = raw[name];
    if (
      value !== undefined &&
      value !== null &&
      !(typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER) &&
      !doubts.includes(name)
    )
      doubts.push(name);
  }
}

/**
 * Usage in the common shape, from any of the forms upstreams send: flat fields, nested details, and
 * the vendors' own names of cached tokens; a non-zero flat value wins over the nested one. Zero
 * details are left out, a missing total is the sum, members that are not counts of ours stay.
 * `undefined` when the value is not an object. Names of sums that are not counts (negative, texts,
 * lists) are added to `doubts`. Translators of native wires call it with names already in the
 * common form; the host calls it for whatever a common wire brings.
 *
 * @param value what stands under `usage`, from outside; nothing in it is trusted to be a number.
 * @param doubts a list that the names are added to, for a warning; nothing is collected without it.
 * @returns a new object. Counts that are missing or wrong are 0, so that sums never become `NaN`.
 * @example
 * ```ts
 * import { readUsage } from 'gw/contract';
 *
 * // { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12, cache_read_tokens: 4, … }
 * export const usage = readUsage({ prompt_tokens: 9, completion_tokens: 3, prompt_cache_hit_tokens: 4 });
 * ```
 */
export function readUsage(value: unknown, doubts?: string[]): Usage | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const raw = value as Fields;
  if (doubts) collectDoubts(raw, doubts);
  const promptDetails = fieldsOf(raw['prompt_tokens_details']);
  const completionDetails = fieldsOf(raw['completion_tokens_details']);
  const prompt = countOf(raw['prompt_tokens']);
  const reasoning = countOf(raw['reasoning_tokens']) || countOf(completionDetails['reasoning_tokens']);
  const total = countOf(raw['total_tokens']);
  const stated = countOf(raw['completion_tokens']);
  const completion = completionOf(stated, reasoning > MOST_TOKENS ? 0 : reasoning, total - prompt);
  const cacheRead = cachedIn(raw, promptDetails);
  const cacheWrite = countOf(raw['cache_write_tokens']);
  const usage: Record<string, unknown> = {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: completion === stated && total > 0 ? total : Math.max(total, prompt + completion),
  };
  if (reasoning > 0) usage['reasoning_tokens'] = reasoning;
  if (cacheRead > 0) usage['cache_read_tokens'] = cacheRead;
  if (cacheWrite > 0) usage['cache_write_tokens'] = cacheWrite;
  putDetails(usage, 'prompt_tokens_details', promptDetails, 'cached_tokens', cacheRead);
  putDetails(usage, 'completion_tokens_details', completionDetails, 'reasoning_tokens', reasoning);
  for (const key in raw) if (!KNOWN.has(key)) setMember(usage, key, raw[key]);
  const facts = (raw as Partial<Usage>)[BILLED];
  return (facts ? { ...usage, [BILLED]: facts } : usage) as unknown as Usage;
}

/**
 * Tokens of the prompt that were written to a cache, where the vendor counts them in it; 0 where
 * they stand beside it, as `cache_write_tokens`. Sources: OpenAI documentation, "Prompt caching",
 * GPT-5.6 and later; OpenRouter as measured in github.com/aaif-goose/goose, pull request 11472;
 * 2026-11-23. Who prices cache writes subtracts them from the prompt first, or they are paid twice.
 * A count that would make the parts larger than the whole is not believed, and gives 0.
 */
export function cacheWritesIn({
  prompt_tokens: prompt,
  cache_read_tokens: read = 0,
  cache_write_tokens: beside = 0,
  prompt_tokens_details: details,
}: Usage): number {
  const written = beside > 0 ? 0 : countOf(fieldsOf(details)['cache_write_tokens']);
  return read + written <= prompt ? written : 0;
}

/**
 * Completion tokens with the reasoning in them. Some vendors count it apart: then it makes up the
 * rest of the total (xAI), or is more than the whole completion (Perplexity), unless a total with
 * room for it, but not for both, shows that it was only counted a little higher (Moonshot).
 */
function completionOf(stated: number, reasoning: number, beyondPrompt: number): number {
  const both = stated + reasoning;
  if (reasoning <= stated) return reasoning > 0 && both === beyondPrompt ? both : stated;
  return reasoning <= beyondPrompt && beyondPrompt < both ? reasoning : both;
}

/**
 * Cached tokens of the prompt: DeepSeek, Moonshot and Mistral have names of their own beside the
 * common ones.
 */
function cachedIn(raw: Readonly<Fields>, details: Readonly<Fields>): number {
  return (
    countOf(raw['cache_read_tokens']) ||
    countOf(details['cached_tokens']) ||
    countOf(raw['prompt_cache_hit_tokens']) ||
    countOf(raw['cached_tokens']) ||
    countOf(raw['num_cached_tokens']) ||
    countOf(fieldsOf(raw['prompt_token_details'])['cached_tokens'])
  );
}

/**
 * Non-zero details as the upstream gave them, with the one we know in place of its own; `undefined`
 * when there are none.
 */
function putDetails(
  usage: Record<string, unknown>,
  name: string,
  given: Readonly<Fields>,
  known: string,
  count: number,
): void {
  let details: Record<string, unknown> | undefined;
  for (const key in given) {
    const value = given[key];
    if (value !== 0 && value !== null) setMember((details ??= {}), key, value);
  }
  if (count > 0) setMember((details ??= {}), known, count);
  if (details) setMember(usage, name, details);
}

/**
 * A usage with what else its answer is billed by. Translators of native wires call it where the
 * vendor says more than the common wire has room for.
 *
 * @param usage token counts in the common shape.
 * @param facts in the words of the vendor; members that are `undefined` count as not said.
 * @returns the usage itself where there is nothing to add, else a new one.
 */
export function withFacts(usage: Usage, facts: UsageFacts): Usage {
  const said = Object.entries(facts).filter(([, value]) => value !== undefined);
  return said.length === 0 ? usage : { ...usage, [BILLED]: { ...usage[BILLED], ...Object.fromEntries(said) } };
}
