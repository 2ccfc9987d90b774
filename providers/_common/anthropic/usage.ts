import { isText, type Usage, type UsageFacts } from 'gw/contract';
import { countOf, type Fields, isFields } from '../fields.ts';

export interface TokenCounts {
  /** Neither cached nor written to a cache. */
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Part of `output`. */
  readonly thinking: number;
}

export function readCounts(value: unknown): TokenCounts {
  const usage = isFields(value) ? value : {};
  const details = isFields(usage['output_tokens_details']) ? usage['output_tokens_details'] : {};
  const count = countIn(usage);
  return {
    input: count('input_tokens'),
    output: count('output_tokens'),
    cacheRead: count('cache_read_input_tokens'),
    cacheWrite: count('cache_creation_input_tokens'),
    thinking: countOf(details['thinking_tokens']),
  };
}

/** Steps of an answer that the whole's own numbers leave out: summaries of what came before, and a second model's advice. */
const BESIDE = new Set<unknown>(['compaction', 'advisor_message']);

/**
 * Reads counts of a usage that may list its steps: what was billed is their sum. When another model took over from one
 * that declined, the numbers of the whole answer are used. Sources: platform.claude.com, "Compaction", "Advisor tool";
 * types of `@anthropic-ai/sdk` 1.12.0, "BetaIterationsUsage"; 2026-11-22.
 */
function countIn(usage: Fields): (name: string) => number {
  const { iterations } = usage;
  if (!Array.isArray(iterations) || iterations.length === 0) return (name) => countOf(usage[name]);
  const steps = iterations.filter(isFields);
  const beside = steps.filter(({ type }) => BESIDE.has(type));
  const own = steps.some(({ type }) => type === 'fallback_message')
    ? []
    : steps.filter(({ type }) => type === 'message');
  return (name) => {
    const isStated = own.some((step) => typeof step[name] === 'number');
    return (isStated ? sumOf(own, name) : countOf(usage[name])) + sumOf(beside, name);
  };
}

const sumOf = (steps: readonly Fields[], name: string): number =>
  steps.reduce((sum, step) => sum + countOf(step[name]), 0);

/**
 * What decides the line of prices, how much was written for an hour, and how often the vendor's own tools worked. Source: types of
 * `@anthropic-ai/sdk` 1.12.0, `BetaUsage`, `BetaServerToolUsage`, 2026-11-27.
 */
export function factsOf(value: unknown): UsageFacts {
  if (!isFields(value)) return NO_FACTS;
  const { service_tier: tier, speed, inference_geo: region, cache_creation: created, server_tool_use: used } = value;
  const long = isFields(created) ? countOf(created['ephemeral_1h_input_tokens']) : 0;
  const { web_search_requests: searches, web_fetch_requests: fetches }: Fields = isFields(used) ? used : {};
  return {
    tier: unless(STANDARD, tier),
    speed: unless(STANDARD, speed),
    region: unless(ANYWHERE, region),
    writtenLong: long > 0 ? long : undefined,
    webSearches: countOf(searches) || undefined,
    webFetches: countOf(fetches) || undefined,
  };
}

const NO_FACTS: UsageFacts = Object.freeze({});
const STANDARD: ReadonlySet<unknown> = new Set(['standard']);
const ANYWHERE: ReadonlySet<unknown> = new Set(['global', 'not_available']);

const unless = (usual: ReadonlySet<unknown>, word: unknown): string | undefined =>
  isText(word) && !usual.has(word) ? word : undefined;

/** Cache reads count as prompt, cache writes stand beside. See docs/reference/providers.md#usage. */
export function toUsage({ input, output, cacheRead, cacheWrite, thinking }: TokenCounts): Usage {
  const prompt = input + cacheRead;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    ...(thinking > 0 && { reasoning_tokens: thinking }),
    ...(cacheRead > 0 && { cache_read_tokens: cacheRead }),
    ...(cacheWrite > 0 && { cache_write_tokens: cacheWrite }),
  };
}
