import { GatewayError } from '../../../host/contract/index.ts';
import type { Host } from '../../../host/host.ts';
import type { JsonAnswer, JsonCall, JsonRoute } from '../../../host/http/json-route.ts';
import { reading } from '../store-calls.ts';
import { FOCUS_BY, focusLines, type SpendNames } from './focus.ts';
import { namesOfKeys } from './key-names.ts';
import { spendBody, spendLines } from './spend-body.ts';
import { type SpendHours, spendHours } from './spend-buckets.ts';
import type { SpendAnswer, SpendFilters, SpendLedger } from '../../../host/stores/spend/spend-ledger.ts';
import type { SpendText } from '../../../host/stores/spend/spend-row.ts';
import { SPEND_COLUMNS } from './spend-columns.ts';
import { readSpendQuery, type SpendQuery } from './spend-query.ts';
import { spendReport } from './spend-report.ts';

/** Hours of a merged day. */
const DAY_HOURS = 24;

export interface SpendPlace {
  /** The ledger of spend; `undefined` where none is kept. */
  readonly reader: () => Pick<SpendLedger, 'read'> | undefined;
  /** The zone of days and months that a request does not name. */
  readonly timezone: () => string;
  readonly accountTitle: SpendNames['accountTitle'];
}

/** What was spent, by whom and on what. See docs/admin.md#spend. */
export function spendRoute(host: Pick<Host, 'log' | 'services' | 'stores'>, place: SpendPlace): JsonRoute {
  const answer = async ({ request, signal }: JsonCall): Promise<JsonAnswer> => {
    const reader = keptSpend(place.reader());
    const now = host.services.clock.now();
    const query = readSpendQuery(request, { now, timezone: place.timezone() });
    const hours = hoursOf(query, now);
    const by = query.format === 'focus' ? FOCUS_BY : columnsOf(query);
    const { from, to, starts: edges } = hours;
    const found = await reading(reader.read({ from, to, edges, by, filters: ledgerFilters(query) }, signal), host.log);
    const keyName = await reading(namesOfKeys(host.stores.keys, found.groups), host.log);
    const names = { keyName, accountTitle: place.accountTitle };
    return query.format === 'focus'
      ? attachment(focusLines(found.groups, edges, names), 'focus.csv')
      : shown(query, found, { hours, names });
  };
  return { method: 'GET', path: '/admin/spend', scope: 'read_only', answer };
}

/** Whatever a request asks for, it is 501 where no spend is kept. */
export function keptSpend<T>(ledger: T | undefined): T {
  if (ledger) return ledger;
  throw new GatewayError('not_implemented', 'this gateway keeps no spend; GW_SPEND is off');
}

/** The key stands in the ledger by its id. */
function ledgerFilters({ filters: { key, ...others } }: SpendQuery): SpendFilters {
  return key === undefined ? others : { ...others, key_id: key };
}

/** Days of FOCUS are those of UTC. */
function hoursOf({ from, to, bucket, zone, format }: SpendQuery, now: number): SpendHours {
  return format === 'focus'
    ? spendHours({ from, to, bucket: 'day', zone: 'UTC', now })
    : spendHours({ from, to, bucket, zone, now });
}

/** The source is always asked for: of what is estimated, and what a vendor reported, there are sums. */
function columnsOf({ by }: SpendQuery): readonly SpendText[] {
  return [...new Set([...by.map((word) => SPEND_COLUMNS[word]), SPEND_COLUMNS.source])];
}

interface Shown {
  readonly hours: SpendHours;
  readonly names: SpendNames;
}

function shown(query: SpendQuery, { groups: sums, mergedUntil = 0 }: SpendAnswer, { hours, names }: Shown): JsonAnswer {
  const report = spendReport(sums, query);
  const { limit, offset, isPart, format } = query;
  const isWhole = format === 'csv' && !isPart;
  const shownReport = {
    query,
    report,
    groups: isWhole ? report.groups : report.groups.slice(offset, offset + limit),
    starts: hours.starts,
    isApproximate: hours.isMoved || cutsMergedDay(hours, mergedUntil),
    names,
  };
  return format === 'csv'
    ? attachment(spendLines(shownReport), 'spend.csv')
    : { status: 200, body: spendBody(shownReport) };
}

/** Whether the range or a bucket begins or ends in the middle of a day that is kept as a whole. */
function cutsMergedDay({ from, to, starts }: SpendHours, mergedUntil: number): boolean {
  return [from, to, ...starts].some((hour) => hour < mergedUntil && hour % DAY_HOURS !== 0);
}

function attachment(lines: Iterable<string>, name: string): JsonAnswer {
  return {
    status: 200,
    content: { type: 'text/csv; charset=utf-8', body: [...lines].join('') },
    headers: ['Content-Disposition', `attachment; filename="${name}"`],
  };
}
