import { GatewayError } from '../../../host/contract/index.ts';
import type { SpendSums } from '../../../host/stores/spend/spend-ledger.ts';
import { SPEND_COLUMNS, type SpendBy, type SpendFigure } from './spend-columns.ts';
import type { SpendQuery } from './spend-query.ts';

/** One group of a report. */
export interface SpendGroup {
  /** The place of its bucket. */
  readonly bucket: number;
  /** What it stands for, in the order of `by`. */
  readonly names: readonly string[];
  readonly figures: Readonly<Record<SpendFigure | 'estimated' | 'reported', number>>;
}

export interface SpendReport {
  /** All of them, in order. */
  readonly groups: readonly SpendGroup[];
  /** Whole numbers over all rows: a request with two tags is one. */
  readonly requests: number;
  readonly microUsd: number;
  /** What rows without a tag come to. */
  readonly untaggedMicroUsd: number;
}

type Shape = Pick<SpendQuery, 'by' | 'depth' | 'sort'>;
type Figures = SpendGroup['figures'];

/** Makes groups of sums by more columns: paths are cut, and what has several tags counts in the group of each. */
export function spendReport(sums: readonly SpendSums[], { by, depth, sort }: Shape): SpendReport {
  const groups = new Map<string, SpendGroup>();
  let [requests, microUsd, untaggedMicroUsd] = [0, 0, 0];
  for (const row of sums) {
    requests = added(requests, row.requests);
    microUsd = added(microUsd, row.micro_usd);
    if (row.tags === '') untaggedMicroUsd = added(untaggedMicroUsd, row.micro_usd);
    for (const names of namesOf(row, by, depth)) {
      const id = JSON.stringify([row.bucket, names]);
      const figures = sumOf(groups.get(id)?.figures ?? NOTHING, row);
      groups.set(id, { bucket: row.bucket, names, figures });
    }
  }
  return { groups: [...groups.values()].sort(orderOf(sort)), requests, microUsd, untaggedMicroUsd };
}

const NOTHING: Figures = {
  requests: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  images: 0,
  unpriced: 0,
  micro_usd: 0,
  estimated: 0,
  reported: 0,
};

function sumOf(figures: Figures, row: SpendSums): Figures {
  const ofSource = (source: 'estimated' | 'reported'): number =>
    row.source === source ? added(figures[source], row.micro_usd) : figures[source];
  return {
    requests: added(figures.requests, row.requests),
    prompt_tokens: added(figures.prompt_tokens, row.prompt_tokens),
    completion_tokens: added(figures.completion_tokens, row.completion_tokens),
    cache_read_tokens: added(figures.cache_read_tokens, row.cache_read_tokens),
    cache_write_tokens: added(figures.cache_write_tokens, row.cache_write_tokens),
    images: added(figures.images, row.images),
    unpriced: added(figures.unpriced, row.unpriced),
    micro_usd: added(figures.micro_usd, row.micro_usd),
    estimated: ofSource('estimated'),
    reported: ofSource('reported'),
  };
}

/** A sum that is not exact is none. */
function added(sum: number, amount: number): number {
  const whole = sum + amount;
  if (!Number.isSafeInteger(whole)) throw new GatewayError('internal_error', 'a sum of spend is too large to be exact');
  return whole;
}

/** The names of one row: several lists where it has several tags. */
function namesOf(row: SpendSums, by: readonly SpendBy[], depth: number | undefined): readonly (readonly string[])[] {
  const tags = by.includes('tag') ? new Set((row.tags ?? '').split(',')) : ONE;
  return Array.from(tags, (tag) =>
    by.map((word) => {
      if (word === 'tag') return tag;
      const text = row[SPEND_COLUMNS[word]] ?? '';
      return word === 'account' && depth !== undefined ? cutPath(text, depth) : text;
    }),
  );
}

const ONE: readonly string[] = [''];

/** The first segments of a path. With none of them everything is the root's, what has no account too. */
function cutPath(path: string, depth: number): string {
  if (depth === 0) return '/';
  return path
    .split('/')
    .slice(0, depth + 1)
    .join('/');
}

type Order = (a: SpendGroup, b: SpendGroup) => number;

function orderOf(sort: SpendQuery['sort']): Order {
  return (a, b) => a.bucket - b.bucket || size(b, sort) - size(a, sort) || byNames(a, b);
}

function size({ figures }: SpendGroup, sort: SpendQuery['sort']): number {
  if (sort === 'name') return 0;
  if (sort === 'tokens') return figures.prompt_tokens + figures.completion_tokens;
  return sort === 'requests' ? figures.requests : figures.micro_usd;
}

function byNames({ names: a }: SpendGroup, { names: b }: SpendGroup): number {
  const at = a.findIndex((name, index) => name !== b[index]);
  if (at < 0) return 0;
  return (a[at] ?? '') < (b[at] ?? '') ? -1 : 1;
}
