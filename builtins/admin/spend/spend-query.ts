import type { IncomingMessage } from 'node:http';
import { quoted } from '../../../host/contract/index.ts';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { DAY_MS } from '../../../host/common/once-per.ts';
import { Windows } from '../../../host/common/budgets/windows.ts';
import { isZone } from '../../../host/common/budgets/zone.ts';
import { Query } from '../query.ts';
import { BUCKETS, type Bucket } from './spend-buckets.ts';
import { SPEND_BY, type SpendBy } from './spend-columns.ts';

const PAGE = 100;
const LONGEST_PAGE = 1000;
const MOST_BY = 3;
const MOST_DAYS = 400;
/** Segments of the longest path of an account. */
const DEEPEST = 8;

export const SPEND_SORTS = ['usd', 'requests', 'tokens', 'name'] as const;
export const SPEND_FORMATS = ['json', 'csv', 'focus'] as const;
/** What rows are chosen by, in the order of checks. */
export const SPEND_FILTERS = [
  'account',
  'key',
  'tag',
  'model',
  'provider',
  'target',
  'credential',
  'surface',
  'line',
] as const;
/** What the FOCUS form has no use for. */
const NOT_OF_FOCUS = ['by', 'depth', 'bucket', 'sort', 'limit', 'offset'] as const;

export type SpendFilters = { readonly [Name in (typeof SPEND_FILTERS)[number]]?: string };

/** What a report is asked for, checked. */
export interface SpendQuery {
  /** Unix milliseconds; `to` is not part of the range. */
  readonly from: number;
  readonly to: number;
  readonly by: readonly SpendBy[];
  /** Segments that paths of accounts are cut to; whole paths without it. */
  readonly depth: number | undefined;
  readonly bucket: Bucket | undefined;
  readonly zone: string;
  /** What must be equal, the empty text included; of `account` the path, and all below. */
  readonly filters: SpendFilters;
  readonly sort: (typeof SPEND_SORTS)[number];
  readonly limit: number;
  readonly offset: number;
  /** Whether the request names a part of the groups. */
  readonly isPart: boolean;
  readonly format: (typeof SPEND_FORMATS)[number];
}

/** Reads the parameters of `GET /admin/spend`, and throws for the first that is wrong, in the order of docs/admin.md#spend. */
export function readSpendQuery(
  request: Pick<IncomingMessage, 'url'>,
  { now, timezone }: { readonly now: number; readonly timezone: string },
): SpendQuery {
  const query = new Query(request);
  const zone = query.text('timezone') || timezone;
  const range = rangeOf(query, isZone(zone) ? zone : 'UTC', now);
  const by = byOf(query);
  const depth = depthOf(query, by);
  const bucket = query.oneOf('bucket', BUCKETS);
  if (!isZone(zone)) throw invalidRequest(`timezone is ${quoted(zone)}; use a name such as Europe/Berlin or UTC`);
  const filters = filtersOf(query);
  const sort = query.oneOf('sort', SPEND_SORTS) ?? 'usd';
  const limit = query.limit(PAGE, LONGEST_PAGE);
  const offset = query.offset();
  const format = query.oneOf('format', SPEND_FORMATS) ?? 'json';
  if (format === 'focus') refuseForFocus(query);
  const isPart = query.text('limit') !== '' || query.text('offset') !== '';
  return { ...range, by, depth, bucket, zone, filters, sort, limit, offset, isPart, format };
}

function rangeOf(query: Query, zone: string, now: number): Pick<SpendQuery, 'from' | 'to'> {
  const given = query.moment('from');
  const to = query.moment('to') ?? now;
  const from = given ?? new Windows({ kind: 'month', zone, at: 0, on: 1 }).at(now).beginsAt;
  if (to <= from) throw invalidRequest('to must be later than from');
  if (to - from > MOST_DAYS * DAY_MS) throw invalidRequest(`from is more than ${MOST_DAYS} days before to`);
  return { from, to };
}

/** In the order in which they were asked for, which is that of columns and of ties. */
function byOf(query: Query): readonly SpendBy[] {
  const known = new Set(query.words('by', SPEND_BY));
  if (known.size > MOST_BY) throw invalidRequest(`by has ${known.size} entries, the limit is ${MOST_BY}`);
  const asked = query.list('by', Number.MAX_SAFE_INTEGER) ?? [];
  return [...new Set(asked)].flatMap((word) => SPEND_BY.find((one) => one === word) ?? []);
}

function depthOf(query: Query, by: readonly SpendBy[]): number | undefined {
  const depth = query.integer('depth', 0);
  if (depth === undefined) return undefined;
  if (!by.includes('account')) throw invalidRequest('depth is of use beside by=account alone');
  return Math.min(depth, DEEPEST);
}

function filtersOf(query: Query): SpendFilters {
  return Object.fromEntries(
    SPEND_FILTERS.flatMap((name) => {
      const value = query.filter(name);
      return value === undefined ? [] : [[name, value === 'none' ? '' : value]];
    }),
  );
}

function refuseForFocus(query: Query): void {
  const name = NOT_OF_FOCUS.find((one) => query.text(one) !== '');
  if (name !== undefined)
    throw invalidRequest(`${name} is of no use beside format=focus, which has every row of the range`);
}
