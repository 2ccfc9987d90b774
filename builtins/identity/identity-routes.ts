import { Scrubber } from '../../host/config/scrubber.ts';
import type { Host } from '../../host/host.ts';
import type { JsonAnswer, JsonRoute } from '../../host/http/json-route.ts';

/** What is in force of the block `identity`, without its secrets. See docs/identity.md#what-is-in-force. */
export function identityRoutes(host: Host): readonly JsonRoute[] {
  const scrubber = new Scrubber(host);
  const shown = (): JsonAnswer => {
    const { block, source } = host.identity;
    const identity = block ? (scrubber.show({ identity: block.document })['identity'] ?? null) : null;
    return { status: 200, body: { source: source ?? null, digest: block?.digest ?? null, identity } };
  };
  return [{ method: 'GET', path: '/admin/identity', scope: 'read_only', answer: shown }];
}
