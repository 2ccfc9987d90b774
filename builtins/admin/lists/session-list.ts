import { invalidRequest } from '../../../host/common/invalid-request.ts';
import type { Host } from '../../../host/host.ts';
import { arrayOf, within, type Slice } from '../../../host/http/json-pieces.ts';
import type { JsonAnswer, JsonCall } from '../../../host/http/json-route.ts';
import type { SessionPlace } from '../../../host/stores/sessions/session-record.ts';
import type { ListedSession } from '../../../host/stores/sessions/listed-session.ts';
import { nextPage } from './next-page.ts';
import { Query } from '../query.ts';
import { reading } from '../store-calls.ts';
import { timestamp } from '../../../host/common/timestamps.ts';

/** Sessions that are read and written in one turn. */
const SLICE = 500;
const PAGE = 200;
const LONGEST_PAGE = 1000;

type Deps = Pick<Host, 'log' | 'stores'>;

/** All sessions, or, with a parameter, a page of them. See docs/admin.md#sessions. */
export function listSessions(host: Deps, { request }: Pick<JsonCall, 'request'>): Promise<JsonAnswer> {
  const query = new Query(request);
  return ['limit', 'after'].every((name) => query.text(name) === '') ? all(host) : page(host, query);
}

async function all({ log, stores: { sessions } }: Deps): Promise<JsonAnswer> {
  const slice = async (after?: SessionPlace): Promise<Slice<ListedSession>> => {
    const { sessions: items, next } = await reading(sessions.page(SLICE, after), log);
    return { items, next: next && (() => slice(next)) };
  };
  const first = await slice();
  return first.next
    ? { status: 200, pieces: within('{"data":', arrayOf(first, shown), '}') }
    : { status: 200, body: { data: first.items.map(shown) } };
}

async function page({ log, stores: { sessions } }: Deps, query: Query): Promise<JsonAnswer> {
  const limit = query.limit(PAGE, LONGEST_PAGE);
  const after = query.filter('after');
  let place = after === undefined ? undefined : await reading(sessions.placeOf(after), log);
  if (after !== undefined && !place) throw invalidRequest('after is not the id of a session');
  let data: readonly ListedSession[] = [];
  do {
    const found = await reading(sessions.page(Math.min(SLICE, limit - data.length), place), log);
    data = [...data, ...found.sessions];
    place = found.next;
  } while (place && data.length < limit);
  return {
    status: 200,
    body: { data: data.map(shown) },
    headers: nextPage('/admin/sessions', place?.id, { limit: String(limit) }),
  };
}

/** `active` is there for sessions of an ended credential alone: the entry of a live one has exactly the specified members. */
function shown({ id, credentialId, subject, scopes, createdAt, lastSeenAt, expiresAt, active }: ListedSession): object {
  return {
    id,
    credential_id: credentialId,
    subject,
    scopes,
    created_at: timestamp(createdAt),
    last_seen_at: lastSeenAt === undefined ? undefined : timestamp(lastSeenAt),
    expires_at: timestamp(expiresAt),
    active: active ? undefined : false,
  };
}
