import type { Host } from '../../../host/host.ts';
import type { JsonRoute } from '../../../host/http/json-route.ts';
import { mostBytes, targetId } from '../asked.ts';
import type { Auditor } from '../auditor.ts';
import { AccountActions } from './account-actions.ts';
import { AccountViews } from './account-views.ts';
import { raiseRoutes } from './raise-routes.ts';

const ACCOUNTS = '/admin/accounts';
const ACCOUNT = `${ACCOUNTS}/:id`;

/** Accounts and tags: made, listed, changed and ended. See docs/admin.md#accounts. */
export function accountRoutes(host: Host, auditor: Auditor): readonly JsonRoute[] {
  const views = new AccountViews(host);
  const actions = new AccountActions(host, auditor, views);
  const read = { method: 'GET', scope: 'read_only' } as const;
  const write = { scope: 'admin', maxBytes: mostBytes(host) } as const;
  return [
    { ...read, path: ACCOUNTS, answer: (call) => views.list(call) },
    { ...read, path: ACCOUNT, answer: async (call) => views.answer((await views.find(targetId(call))).path) },
    { ...write, method: 'POST', path: ACCOUNTS, answer: (call) => actions.create(call) },
    { ...write, method: 'PUT', path: ACCOUNT, answer: (call) => actions.update(call) },
    { method: 'DELETE', path: ACCOUNT, scope: 'admin', answer: (call) => actions.delete(call) },
    ...raiseRoutes(host, auditor, views),
  ];
}
