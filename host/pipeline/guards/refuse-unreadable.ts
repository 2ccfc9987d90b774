import { GatewayError } from '../../contract/index.ts';
import type { LiveExchange } from '../live-exchange.ts';
import type { RunningPlugins } from '../running-generation.ts';

/**
 * A body that no plugin can read is refused while a content guardrail stands before the request (docs/reference/data-plane.md#unreadable-bodies). Of one
 * that goes on in the client's own bytes, nothing leaves that plugins cannot have read.
 */
export function refuseUnreadable(exchange: LiveExchange, plugins: RunningPlugins): void {
  if (exchange.sent && plugins.inspected.has(exchange.surface)) exchange.sent = exchange.sent.inspected();
  const why = whyUnreadable(exchange, plugins);
  if (why === undefined) return;
  exchange.plugins.rejectedBy = 'gateway';
  throw new GatewayError('request_rejected', `request rejected by gateway (before_request): ${why}`);
}

function whyUnreadable({ surface, unreadable }: LiveExchange, plugins: RunningPlugins): string | undefined {
  const absent = plugins.uncovered.get(surface);
  if (absent !== undefined)
    return `${absent} does not read ${surface} bodies, and this deployment does not forward them uninspected`;
  if (!unreadable || !plugins.contentGuarded.has(surface)) return undefined;
  return 'the body cannot be inspected by the configured content guardrail, and this deployment does not forward such bodies';
}
