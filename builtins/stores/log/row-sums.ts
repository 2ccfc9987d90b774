import type { Knex } from 'knex';
import { MOST_SUM } from '../../../host/common/bounded-sum.ts';

export const HAS_ERROR = "coalesce(error_message, '') <> ''";
/** Rows that end a request, which stand for it as a whole. */
export const IS_TERMINAL = "stage IN ('after_request', 'on_error')";
const IS_ERROR = `(stage = 'on_error' OR ${HAS_ERROR})`;
const IS_UNPRICED = `(stage = 'after_request' AND cost_usd IS NULL AND coalesce(error_message, '') = '')`;
/** Reasons of refusals before a target was tried. */
const AT_DOOR = [
  'key_rpm',
  'key_tpm',
  'key_expired',
  'key_revoked',
  'malformed',
  'too_large',
  'wrong_method',
  'draining',
];
/** They take no time: a flood of them must not move what the others took. */
export const IS_TIMED = `NOT (stage = 'on_error' AND attempts IS NULL AND coalesce(reason, '') IN (${AT_DOOR.map((reason) => `'${reason}'`).join(', ')}))`;

/** How many requests a row stands for. */
const REQUESTS = '1 + coalesce(repeats, 0)';
const counted = (condition: string): string => `sum(CASE WHEN ${condition} THEN ${REQUESTS} ELSE 0 END)`;
/** As fractions: whole numbers, of which a few absurd ones make a sum that the type does not hold, would fail. Up to 2^53 they are the same. */
const tokens = (column: string): string => `sum(CAST(${column} AS DOUBLE PRECISION))`;
/** Without costs that are beyond all sense, which would make the sum fail, or infinite. */
const COST = `sum(CASE WHEN abs(cost_usd) <= ${MOST_SUM} THEN cost_usd END)`;
const timed = (column: string): string => `CASE WHEN ${IS_TIMED} THEN ${column} END`;

/** Requests of rows. */
export const COUNT = `sum(${REQUESTS})`;

/** Sums over rows, by the names under which they are kept and read. */
export const SUMS = {
  count: COUNT,
  errors: counted(IS_ERROR),
  prompt: tokens('prompt_tokens'),
  completion: tokens('completion_tokens'),
  total: tokens('total_tokens'),
  cost: COST,
  unpriced: counted(IS_UNPRICED),
} as const;

/** What is known of times beside their percentiles: each row is measured once, whatever it stands for. */
export const TIMES = {
  duration_n: `count(${timed('duration_ms')})`,
  duration_sum: `sum(${timed('duration_ms')})`,
  duration_max: `max(${timed('duration_ms')})`,
  ttft_n: `count(${timed('ttft_ms')})`,
  ttft_sum: `sum(${timed('ttft_ms')})`,
  ttft_max: `max(${timed('ttft_ms')})`,
} as const;

export type SumName = keyof typeof SUMS | keyof typeof TIMES;

/** How sums of parts are added up. */
export function sumOf(name: string): string {
  return `${name.endsWith('_max') ? 'max' : 'sum'}(${name})`;
}

export const rawColumns = (knex: Knex, columns: Readonly<Record<string, string>>): Knex.Raw[] =>
  Object.entries(columns).map(([name, sql]) => knex.raw(`${sql} AS ${name}`));
