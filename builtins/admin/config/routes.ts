import { writtenSchema } from '../../../host/config/json-schema/configuration-schema.ts';
import type { JsonSchema } from '../../../host/config/json-schema/setting-schema.ts';
import type { Host } from '../../../host/host.ts';
import type { JsonRoute } from '../../../host/http/json-route.ts';
import { mostBytes } from '../asked.ts';
import type { Auditor } from '../auditor.ts';
import { ConfigActions } from './config-actions.ts';
import { ConfigViews } from './config-views.ts';
import { SourceView } from './source-view.ts';

const CONFIG = '/admin/config';
const UPDATE = { action: 'config.update', status: 200, word: 'updated' };
const CREATE = { action: 'config.create', status: 201, word: 'created' };

/** What a patch is written in (RFC 5789). */
const ACCEPTS = ['Accept-Patch', 'application/json-patch+json'];

/** The configuration: looked at, patched, replaced, reset, gone back to. See docs/admin.md#the-configuration. */
export function configRoutes(host: Host, auditor: Auditor): JsonRoute[] {
  const views = new ConfigViews(host);
  const source = new SourceView(host);
  let schema: JsonSchema | undefined; // the registry is sealed before routes are mounted
  const actions = new ConfigActions(host, auditor, views);
  const read = { method: 'GET', scope: 'read_only' } as const;
  const write = { scope: 'admin', maxBytes: mostBytes(host) } as const;
  const check = { ...write, method: 'POST' } as const;
  return [
    { ...read, path: CONFIG, answer: () => views.running() },
    { ...write, method: 'PUT', path: CONFIG, answer: (call) => actions.replace(call, UPDATE) },
    { ...write, method: 'POST', path: CONFIG, answer: (call) => actions.replace(call, CREATE) },
    { ...write, method: 'PATCH', path: CONFIG, headers: ACCEPTS, answer: (call) => actions.patch(call) },
    { ...write, method: 'POST', path: `${CONFIG}/patch`, answer: (call) => actions.patch(call) },
    { method: 'DELETE', path: CONFIG, scope: 'admin', answer: (call) => actions.reset(call) },
    { ...read, path: `${CONFIG}/source`, answer: () => source.show() },
    {
      ...read,
      path: `${CONFIG}/schema`,
      answer: () => ({ status: 200, body: (schema ??= writtenSchema(host.registry)) }),
    },
    { ...read, path: `${CONFIG}/history`, answer: (call) => views.history(call) },
    { ...read, path: `${CONFIG}/history/:version`, answer: (call) => views.versionOf(call) },
    {
      method: 'POST',
      path: `${CONFIG}/rollback/:version`,
      scope: 'admin',
      answer: (call) => actions.rollBack(call),
    },
    { ...check, path: `${CONFIG}/validate`, answer: (call) => views.validity(call) },
    { ...check, path: `${CONFIG}/diff`, answer: (call) => views.difference(call) },
  ];
}
