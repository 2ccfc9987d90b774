import { invalidRequest } from '../../../host/common/invalid-request.ts';
import type { Host } from '../../../host/host.ts';
import { arrayOf, type Slice } from '../../../host/http/json-pieces.ts';
import type { JsonAnswer, JsonCall } from '../../../host/http/json-route.ts';
import type { KeyRecord } from '../../../host/stores/keys/key-record.ts';
import type { KeyFilters, KeyPlace } from '../../../host/stores/keys/key-repository.ts';
import { keyObject } from '../key-object.ts';
import { nextPage } from './next-page.ts';
import { Query } from '../query.ts';
import { reading } from '../store-calls.ts';

/** Keys that are read and written in one turn. */
const SLICE = 500;
/** Keys of a page that does not say how many. */
const PAGE = 200;
const LONGEST_PAGE = 1000;
const MOST_IDS = 200;
const PARAMETERS = ['limit', 'after', 'q', 'ids', 'account'] as const;

type Deps = Pick<Host, 'log' | 'stores'>;

/** All keys, or, with a parameter, a page of some of them. See docs/admin.md#lists-of-keys. */
export function listKeys(host: Deps, { request }: Pick<JsonCall, 'request'>): Promise<JsonAnswer> {
  const query = new Query(request);
  return PARAMETERS.every((name) => query.text(name) === '') ? all(host) : page(host, query);
}

async function all({ log, stores: { keys } }: Deps): Promise<JsonAnswer> {
  const slice = async (after?: KeyPlace): Promise<Slice<KeyRecord>> => {
    const { keys: items, next } = await reading(keys.page({}, SLICE, after), log);
    return { items, next: next && (() => slice(next)) };
  };
  const first = await slice();
  return first.next
    ? { status: 200, pieces: arrayOf(first, (record) => keyObject(record)) }
    : { status: 200, body: first.items.map((record) => keyObject(record)) };
}

async function page({ log, stores: { keys } }: Deps, query: Query): Promise<JsonAnswer> {
  const limit = query.limit(PAGE, LONGEST_PAGE);
  const after = query.filter('after');
  const filters: KeyFilters = {
    name: query.filter('q'),
    ids: query.list('ids', MOST_IDS),
    account: query.account(),
  };
  let place = after === undefined ? undefined : await reading(keys.placeOf(after), log);
  if (after !== undefined && !place) throw invalidRequest('after is not the id of a key');
  const total = await reading(keys.count(filters), log);
  let found: readonly KeyRecord[] = [];
  do {
    const { keys: slice, next } = await reading(keys.page(filters, Math.min(SLICE, limit - found.length), place), log);
    found = [...found, ...slice];
    place = next;
  } while (place && found.length < limit);
  return {
    status: 200,
    body: found.map((record) => keyObject(record)),
    headers: [
      'X-Total-Count',
      String(total),
      ...nextPage('/admin/keys', place?.id, {
        limit: String(limit),
        q: query.text('q'),
        ids: query.text('ids'),
        account: query.text('account'),
      }),
    ],
  };
}
