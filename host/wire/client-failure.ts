import type { ErrorCode, GatewayError, UpstreamFault } from '../contract/index.ts';

/** What a client learns of an error, before its wire gives it a form. */
export interface ClientFailure {
  readonly code: ErrorCode;
  readonly status: number;
  /** Redacted and bounded. */
  readonly message: string;
  /** What `X-Request-ID` says. */
  readonly requestId: string;
  /** What `Retry-After` says, in seconds; `undefined` where it is not sent. */
  readonly retryAfterS: number | undefined;
  /** Why an upstream refused, where it said so. */
  readonly reason?: UpstreamFault['reason'];
}

/** `message` is what may be shown of the error's own one. */
export function failureOf(error: GatewayError, message: string, requestId: string): ClientFailure {
  const { code, status, fault } = error;
  return {
    code,
    status,
    message,
    requestId,
    retryAfterS: retryAfterS(error),
    ...(fault?.reason && { reason: fault.reason }),
  };
}

/** What `Retry-After` says (docs/reference/data-plane.md#retry-after): an upstream's or limiter's hint whatever the status; else 1 for 429; never for 402. */
function retryAfterS({ code, status, retryAfterMs }: GatewayError): number | undefined {
  if (code === 'insufficient_quota') return undefined;
  if (retryAfterMs !== undefined && retryAfterMs > 0) return Math.ceil(retryAfterMs / 1000);
  return status === 429 ? 1 : undefined;
}
