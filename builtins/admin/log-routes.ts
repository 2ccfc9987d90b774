import { GatewayError } from '../../host/contract/index.ts';
import type { JsonRoute } from '../../host/http/json-route.ts';

/** The routes that read the request log. This version does not keep one, so each is 501, whatever its parameters. Source: specification 4.7, key rule 7. */
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
