import type { Host } from '../../host/host.ts';
import type { JsonAnswer, JsonCall, JsonRoute } from '../../host/http/json-route.ts';
import { keyObject } from './key-object.ts';
import { Query } from './query.ts';
import { reading } from './store-calls.ts';

const PAGE = 20;
const LONGEST_PAGE = 100;

/** How much each key was used. See docs/admin.md#usage. */
export function usageRoute({ log, stores: { keys } }: Host): JsonRoute {
  const answer = async ({ request }: JsonCall): Promise<JsonAnswer> => {
    const query = new Query(request);
    const limit = query.limit(PAGE, LONGEST_PAGE);
    const offset = query.offset();
    const sort = query.oneOf('sort', ['usage', 'last_used']) ?? 'usage';
    const active = query.flag('active');
    const since = query.moment('since');
    const page = await reading(keys.usage({ sort, active, since, limit, offset }), log);
    return {
      status: 200,
      body: {
        data: page.keys.map((record) => keyObject(record)),
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
        },
      },
    };
  };
  return { method: 'GET', path: '/admin/keys/usage', scope: 'read_only', answer };
}
