import { GatewayError } from '../../host/contract/index.ts';
import type { Host } from '../../host/host.ts';
import type { JsonAnswer, JsonCall, JsonRoute } from '../../host/http/json-route.ts';
import type { ListedSession } from '../../host/stores/sessions/session-store.ts';
import { targetId } from './asked.ts';
import type { Auditor } from './auditor.ts';
import { changing, reading } from './store-calls.ts';
import { timestamp } from './timestamps.ts';

const SESSIONS = '/admin/sessions';

/** Sessions of the dashboard: listed and ended. See docs/reference/admin.md#sessions. */
export function sessionRoutes({ log, stores: { sessions } }: Host, auditor: Auditor): readonly JsonRoute[] {
  const end = async (call: JsonCall, action: 'session.logout' | 'session.revoke', id: string): Promise<JsonAnswer> => {
    await auditor.during(call, { action, target: id, act: () => changing(sessions.delete(id)) });
    return { status: 204 };
  };
  const signOut = (call: JsonCall): Promise<JsonAnswer> => {
    const id = call.principal?.sessionId;
    if (id === undefined)
      throw new GatewayError('not_a_session', 'this request was made with a key, which has no session to end');
    return end(call, 'session.logout', id);
  };
  const endAll = async (call: JsonCall): Promise<JsonAnswer> => {
    const revoked = await auditor.during(call, {
      action: 'session.revoke_all',
      target: '*',
      act: () => changing(sessions.deleteAll()),
      done: (count) => ({ detail: { count } }),
    });
    return { status: 200, body: { revoked } };
  };
  return [
    { method: 'DELETE', path: '/admin/session', scope: 'read_only', answer: signOut },
    {
      method: 'GET',
      path: SESSIONS,
      scope: 'read_only',
      answer: async () => ({ status: 200, body: { data: (await reading(sessions.list(), log)).map(shown) } }),
    },
    { method: 'DELETE', path: SESSIONS, scope: 'admin', answer: endAll },
    {
      method: 'DELETE',
      path: `${SESSIONS}/:id`,
      scope: 'admin',
      answer: (call) => end(call, 'session.revoke', targetId(call)),
    },
  ];
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
