import { frozenTable } from './json/members.ts';

/** Error types of the common wire, and the two of its stream events (docs/errors.md). */
export type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'rate_limit_error'
  | 'insufficient_quota'
  | 'upstream_error'
  | 'server_error'
  | 'stream_error'
  | 'timeout_error';

interface ErrorRow {
  readonly status: number;
  readonly type: ErrorType;
}

/**
 * The one table from code to status and type. `docs/errors.md` explains each row; a test compares
 * both with the list of promised codes.
 */
export const ERRORS = frozenTable({
  invalid_request: { status: 400, type: 'invalid_request_error' },
  request_rejected: { status: 400, type: 'invalid_request_error' },
  unsupported_parameter: { status: 400, type: 'invalid_request_error' },
  provider_not_resolved: { status: 400, type: 'invalid_request_error' },
  invalid_proxy_path: { status: 400, type: 'invalid_request_error' },
  streaming_not_supported: { status: 400, type: 'invalid_request_error' },
  invalid_scope: { status: 400, type: 'invalid_request_error' },
  not_a_session: { status: 400, type: 'invalid_request_error' },
  invalid_config: { status: 400, type: 'invalid_request_error' },
  missing_api_key: { status: 401, type: 'authentication_error' },
  invalid_api_key: { status: 401, type: 'authentication_error' },
  authentication_required: { status: 401, type: 'authentication_error' },
  insufficient_quota: { status: 402, type: 'insufficient_quota' },
  insufficient_scope: { status: 403, type: 'permission_error' },
  model_not_found: { status: 404, type: 'invalid_request_error' },
  provider_not_found: { status: 404, type: 'invalid_request_error' },
  resource_not_found: { status: 404, type: 'not_found_error' },
  method_not_supported: { status: 405, type: 'invalid_request_error' },
  self_mutation_forbidden: { status: 409, type: 'invalid_request_error' },
  last_admin_key: { status: 409, type: 'invalid_request_error' },
  rate_limit_exceeded: { status: 429, type: 'rate_limit_error' },
  provider_saturated: { status: 429, type: 'rate_limit_error' },
  plugin_error: { status: 500, type: 'server_error' },
  internal_error: { status: 500, type: 'server_error' },
  routing_error: { status: 500, type: 'server_error' },
  proxy_not_supported: { status: 501, type: 'invalid_request_error' },
  batch_not_configured: { status: 501, type: 'invalid_request_error' },
  responses_not_configured: { status: 501, type: 'invalid_request_error' },
  response_rejected: { status: 502, type: 'upstream_error' },
  upstream_auth_error: { status: 502, type: 'upstream_error' },
  upstream_error: { status: 502, type: 'upstream_error' },
  upstream_unavailable: { status: 503, type: 'upstream_error' },
  upstream_timeout: { status: 504, type: 'upstream_error' },
  gateway_timeout: { status: 504, type: 'upstream_error' },

  redacted_secret: { status: 400, type: 'invalid_request_error' },
  version_conflict: { status: 412, type: 'invalid_request_error' },
  request_too_large: { status: 413, type: 'invalid_request_error' },
  not_implemented: { status: 501, type: 'invalid_request_error' },
  store_unavailable: { status: 503, type: 'server_error' },
  stream_error: { status: 502, type: 'stream_error' },
  stream_timeout: { status: 504, type: 'timeout_error' },

  /** Never sent: the client has gone. */
  client_canceled: { status: 499, type: 'invalid_request_error' },
} as const satisfies Readonly<Record<string, ErrorRow>>);

/**
 * Code of an error: what the client reads as `error.code`, and what decides status and type by the
 * table `ERRORS`.
 */
export type ErrorCode = keyof typeof ERRORS;

/** The body that a client of the common wire gets for an error, as JSON. */
export interface ErrorEnvelope {
  /** What went wrong: a message for people, and the type and code for programs. */
  readonly error: { readonly message: string; readonly type: ErrorType; readonly code: ErrorCode };
}

/** What an error says beside its code and message. All of it may be left out. */
export interface GatewayErrorOptions {
  /** What led to the error. It stands in the log, and never in the client's answer. */
  readonly cause?: unknown;
  /** Replaces the table's status: an upstream 422 keeps its own. */
  readonly status?: number;
  /** Milliseconds the client should wait, from an upstream's hint or a limiter's refill. */
  readonly retryAfterMs?: number | undefined;
  /** What the upstream did, when the error comes from one. */
  readonly fault?: UpstreamFault;
  /** Characters of the message that a client gets; 2,048 unless said. */
  readonly messageLimit?: number;
}

/**
 * How an upstream failed. The pipeline decides from it, never from text, whether to retry, to fail
 * over, and to count a failure for the breaker.
 */
export interface UpstreamFault {
  /** The upstream's HTTP status; absent when no response arrived. */
  readonly status?: number;
  /**
   * `status`: it answered with a failure. `timeout`: it did not answer in time. `transport`: it
   * could not be reached or broke off. `reply`: it answered 2xx with something unusable.
   */
  readonly kind: 'status' | 'timeout' | 'transport' | 'reply';
  /** Faults that opt-in failover recognises. */
  readonly reason?: 'context_length' | 'content_policy' | undefined;
  /**
   * What the upstream said itself, all of it; never an address or a system's error text. The host
   * redacts it and cuts it to 2,048 characters, in this order, wherever it is shown: in logs and in
   * what clients get.
   */
  readonly message?: string | undefined;
}

/**
 * The one error class. Messages are lower case, name the thing and the limit, and never hold a
 * credential or a body. `status` is an HTTP status, `retryAfterMs` milliseconds.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly type: ErrorType;
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  readonly fault: UpstreamFault | undefined;
  readonly messageLimit: number | undefined;

  constructor(code: ErrorCode, message: string, options: GatewayErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.type = ERRORS[code].type;
    this.status = options.status ?? ERRORS[code].status;
    this.retryAfterMs = options.retryAfterMs;
    this.fault = options.fault;
    this.messageLimit = options.messageLimit;
  }

  toEnvelope(): ErrorEnvelope {
    return { error: { message: this.message, type: this.type, code: this.code } };
  }
}

/** Shared by every module of the process. */
Object.freeze(GatewayError.prototype);
Object.freeze(GatewayError);

/**
 * The error for an answer that fails while it arrives. A client whose stream has begun gets
 * `message`, which is the upstream's.
 */
export function failedAnswer(
  message: string,
  { cause, reason }: { readonly cause?: Error; readonly reason?: UpstreamFault['reason'] } = {},
): GatewayError {
  return new GatewayError('upstream_error', 'the provider failed while answering', {
    ...(cause && { cause }),
    fault: { kind: 'reply', message, ...(reason && { reason }) },
  });
}
