import { type GatewayError, type RequestEnd, type Surface, SURFACES } from '../../contract/index.ts';
import type { Delivery, Measured, PluginTraces, Routing } from '../exchange-state.ts';
import { outcomeOf } from './outcome-of.ts';
import { reasonOf } from './reason-of.ts';

/** What of an exchange says how it ends. */
interface EndingExchange {
  readonly error: GatewayError | undefined;
  readonly surface: Surface;
  readonly attempts: number;
  readonly routing: Routing;
  readonly plugins: PluginTraces;
  readonly measured: Measured;
  readonly delivery: Delivery;
}

/** How an exchange ends, as far as it is known. It is read once for a row, and kept nowhere. */
export function endOf(exchange: EndingExchange): RequestEnd {
  const { error, surface, attempts, routing, plugins } = exchange;
  const isForwarded = SURFACES[surface].isForwarded === true;
  const forwardedStatus = isForwarded ? routing.upstreamStatus : undefined;
  const reason = reasonOf({
    error,
    forwardedStatus,
    rejectedBy: plugins.rejectedBy,
    refused: routing.refused,
    attempts,
  });
  return {
    status: statusOf(exchange, forwardedStatus),
    outcome: outcomeOf({ error, forwardedStatus, reason, attempts }),
    code: error?.code,
    reason,
    upstreamStatus: routing.upstreamStatus,
    upstreamMessage: routing.upstreamMessage,
  };
}

/** What has left before a failure is not taken back. */
function statusOf(
  { error, measured: { ttftMs, tunnel }, delivery: { isSent, isWhole } }: EndingExchange,
  forwardedStatus: number | undefined,
): number {
  if (tunnel) return 101;
  if (!error) return forwardedStatus ?? 200;
  return isSent || (ttftMs !== undefined && !isWhole) ? (forwardedStatus ?? 200) : error.status;
}
