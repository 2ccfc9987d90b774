import type { Clock } from '../common/clock.ts';
import { GatewayError, type HttpSend } from '../contract/index.ts';
import { Cancellation } from './cancellation.ts';
import type { EgressOfCall } from './upstream-call.ts';
import type { Transport } from './transport.ts';

const DEFAULT_TIMEOUT_MS = 10_000;

/** The outbound call that plugins get: one request over the pooled transport, no redirects, bounded as a whole. */
export function sendHttp({
  transport,
  clock,
  egress,
}: {
  readonly transport: Transport;
  readonly clock: Clock;
  /** How the calls of a declared instance leave. */
  readonly egress?: EgressOfCall | undefined;
}): HttpSend {
  return async ({ method, url, headers = {}, body, timeoutMs = DEFAULT_TIMEOUT_MS }) => {
    const cancellation = new Cancellation();
    const timer = clock.timer(timeoutMs, () =>
      cancellation.cancel(new GatewayError('gateway_timeout', `no answer within ${timeoutMs} ms`)),
    );
    try {
      return await transport.unary({
        request: { method, url, headers, body },
        cancellation,
        egress,
        connectTimeoutMs: timeoutMs,
        headersTimeoutMs: timeoutMs,
      });
    } finally {
      timer.cancel();
    }
  };
}
