import { timezoneOf } from '../../host/config/rules/account-rules.ts';
import type { Host } from '../../host/host.ts';
import type { JsonAnswer, JsonCall, JsonRoute } from '../../host/http/json-route.ts';
import { ACCESS_WORDS } from '../../host/stores/keys/access-of-keys.ts';
import type { KeyRecord } from '../../host/stores/keys/key-record.ts';
import { keyObject } from './key-object.ts';
import { remainingUsd } from './lists/remaining-usd.ts';
import { usageBySpend } from './lists/usage-by-spend.ts';
import { Query } from './query.ts';
import { monthSpend } from './spend/month-spend.ts';
import { keptSpend } from './spend/spend-route.ts';
import { reading } from './store-calls.ts';

const PAGE = 20;
const LONGEST_PAGE = 100;
const SORTS = ['usage', 'last_used', 'spend'] as const;

/** Where a month of spend begins. */
const zoneOf = ({ current }: Host): string => (current ? timezoneOf(current.config) : 'UTC');

/** How much each key was used, and has spent this month where that is kept. See docs/admin.md#usage. */
export function usageRoute(host: Host): JsonRoute {
  const {
    log,
    services: { clock },
    stores: { keys, spend, ledgers },
  } = host;
  const answer = async ({ request, signal }: JsonCall): Promise<JsonAnswer> => {
    const query = new Query(request);
    const now = clock.now();
    const limit = query.limit(PAGE, LONGEST_PAGE);
    const offset = query.offset();
    const sort = query.oneOf('sort', SORTS) ?? 'usage';
    const active = query.flag('active');
    const since = query.moment('since');
    const access = query.oneOf('access', ACCESS_WORDS);
    const ledger = sort === 'spend' ? keptSpend(spend.value) : spend.value;
    const spent = ledger && (await reading(monthSpend(ledger, { now, zone: zoneOf(host) }, signal), log));
    const asked = { active, since, access, limit, offset };
    const found = sort === 'spend' ? usageBySpend(keys, asked, spent ?? NOTHING) : keys.usage({ ...asked, sort });
    const page = await reading(found, log);
    const left = (record: KeyRecord): number | undefined =>
      remainingUsd(record, { ledgers: ledgers.value, raises: host.current?.accounts.raisesOf(record.id) ?? [], now });
    return {
      status: 200,
      body: {
        data: page.keys.map((record) => entry(record, spent, left(record))),
        summary: {
          total_keys: page.totalKeys,
          active_keys: page.activeKeys,
          total_usage: page.totalUsage,
          returned_keys: page.keys.length,
        },
        filters: {
          limit,
          offset,
          sort,
          active: active === undefined ? '' : String(active),
          since: query.text('since'),
          ...(access !== undefined && { access }),
        },
      },
    };
  };
  return { method: 'GET', path: '/admin/keys/usage', scope: 'read_only', answer };
}

const NOTHING: ReadonlyMap<string, number> = new Map();

/** JSON leaves `undefined` out. */
function entry(
  record: KeyRecord,
  spent: ReadonlyMap<string, number> | undefined,
  remaining: number | undefined,
): object {
  const key = keyObject(record);
  return spent ? { ...key, spend: { month_usd: (spent.get(record.id) ?? 0) / 1e6, remaining_usd: remaining } } : key;
}
