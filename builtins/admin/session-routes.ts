import { GatewayError } from '../../host/contract/index.ts';
import type { Host } from '../../host/host.ts';
import type { JsonAnswer, JsonCall, JsonRoute } from '../../host/http/json-route.ts';
import { targetId } from './asked.ts';
import type { Auditor } from './auditor.ts';
import { listSessions } from './lists/session-list.ts';
import { changing } from './store-calls.ts';

const SESSIONS = '/admin/sessions';

/** Sessions of the dashboard: listed and ended. See docs/reference/admin.md#sessions. */
export function sessionRoutes(host: Host, auditor: Auditor): readonly JsonRoute[] {
  const { sessions } = host.stores;
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
      answer: (call) => listSessions(host, call),
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
