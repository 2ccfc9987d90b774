import { GatewayError } from '../../host/contract/index.ts';
import type { JsonRoute } from '../../host/http/json-route.ts';

/** What reads the request log. No version keeps one yet: whoever has the scope is told so, whatever the parameters. Source: specification 4.7, key rule 7. */
export function logRoutes(): readonly JsonRoute[] {
  const answer = (): never => {
    throw new GatewayError('not_implemented', 'this gateway keeps no request log');
  };
  return [
    { method: 'GET', path: '/admin/logs', scope: 'read_only', answer },
    { method: 'DELETE', path: '/admin/logs', scope: 'admin', answer },
    { method: 'GET', path: '/admin/logs/stats', scope: 'read_only', answer },
    { method: 'GET', path: '/admin/explain/:id', scope: 'read_only', answer },
  ];
}
