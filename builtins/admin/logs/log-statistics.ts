import { LOG_COLUMNS } from '../../../host/contract/log-columns.ts';
import type {
  LogGroup,
  LogSeries,
  LogShare,
  LogSplit,
  LogStatistics,
} from '../../../host/stores/log/log-repository.ts';
import { timestamp } from '../../../host/common/timestamps.ts';

interface Sums {
  count: number;
  errors: number;
  tokens: number;
  cost_usd: number;
  unpriced: number;
}

/** Statistics as they are shown; `limit` names at most, all when it is 0. See docs/admin.md#the-request-log. */
export function statisticsBody(
  { groups, latency, ttft, byStage, topErrors }: LogStatistics,
  series: LogSeries | undefined,
  limit: number,
): object {
  const sum = (of: (group: LogGroup) => number): number => groups.reduce((total, group) => total + of(group), 0);
  return {
    summary: {
      total_entries: sum(({ count }) => count),
      error_entries: sum(({ errors }) => errors),
      total_tokens: sum(({ totalTokens }) => totalTokens),
      prompt_tokens: sum(({ promptTokens }) => promptTokens),
      completion_tokens: sum(({ completionTokens }) => completionTokens),
      cost_usd: sum(({ costUsd }) => costUsd),
      unpriced_requests: sum(({ unpriced }) => unpriced),
    },
    latency_ms: latency ?? null,
    ttft_ms: ttft ?? null,
    by_stage: Object.fromEntries(
      byStage.toSorted((a, b) => (a.stage < b.stage ? -1 : 1)).map(({ stage, count }) => [stage, count]),
    ),
    by_provider: byName(groups, ({ provider }) => provider, limit),
    by_model: byName(
      groups.filter(({ isRest }) => !isRest),
      ({ model }) => model,
      limit,
    ),
    top_errors: topErrors,
    series: series ? seriesBody(series) : { points: [], truncated: false },
  };
}

/** Sums by the parts of a split, as those by provider are shown; those of later splits with both counts of tokens, or by count alone. */
export function sharesBody(split: LogSplit, shares: readonly LogShare[], limit: number): object {
  const counts = COUNTED[split];
  if (counts) return { ...counts, ...Object.fromEntries(shares.map(({ name, count }) => [name, count])) };
  const most = split === 'credential' || split === 'group' || limit === 0 ? shares : shares.slice(0, limit);
  return Object.fromEntries(most.map((share) => [share.name, shareBody(split, share)]));
}

/** Splits that are counted alone, with the parts that are always there. */
const COUNTED: Readonly<Partial<Record<LogSplit, Readonly<Record<string, number>>>>> = {
  outcome: Object.fromEntries(LOG_COLUMNS.outcome.values.map((outcome) => [outcome, 0])),
  status: {},
  code: {},
};

function shareBody(split: LogSplit, { count, errors, costUsd: cost_usd, unpriced, ...tokens }: LogShare): object {
  const { totalTokens, promptTokens: prompt_tokens, completionTokens: completion_tokens } = tokens;
  return split === 'credential' || split === 'group'
    ? { count, errors, tokens: totalTokens, cost_usd, unpriced }
    : { count, errors, tokens: totalTokens, prompt_tokens, completion_tokens, cost_usd, unpriced };
}

/** The most frequent, of as many the lesser name. What has no name is `unknown`. */
function byName(groups: readonly LogGroup[], nameOf: (group: LogGroup) => string, limit: number): object {
  const sums = new Map<string, Sums>();
  for (const group of groups) {
    const name = nameOf(group) || 'unknown';
    const known = sums.get(name) ?? { count: 0, errors: 0, tokens: 0, cost_usd: 0, unpriced: 0 };
    known.count += group.count;
    known.errors += group.errors;
    known.tokens += group.totalTokens;
    known.cost_usd += group.costUsd;
    known.unpriced += group.unpriced;
    sums.set(name, known);
  }
  const sorted = [...sums].toSorted(
    ([a, { count: countA }], [b, { count: countB }]) => countB - countA || (a < b ? -1 : 1),
  );
  return Object.fromEntries(limit === 0 ? sorted : sorted.slice(0, limit));
}

function seriesBody({ points, truncated, start, end, buckets, edges }: LogSeries): object {
  const width = (end - start) / buckets;
  const seconds = (at: number): string => timestamp(Math.floor(at / 1000) * 1000);
  return {
    points: points.map(({ requests, errors, promptTokens, completionTokens }, at) => ({
      start: seconds(edges?.[at] ?? start + at * width),
      requests,
      errors,
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
    })),
    truncated,
    start: timestamp(start),
    end: timestamp(end),
  };
}
