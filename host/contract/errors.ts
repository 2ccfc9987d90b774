import { frozenTable } from './json/members.ts';

/**
 * Error types of the common wire, and the two of its stream events (docs/errors.md). It is the
 * class that a client's library picks its exception by; `code` says more. A module never states it:
 * it follows from the code.
 */
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

/** What a code stands for on the wire. */
interface ErrorRow {
  /** The status of HTTP that the answer has, unless the error brings one of its own. */
  readonly status: number;
  /** What the client reads as `error.type`. */
  readonly type: ErrorType;
}

/**
 * The one table from code to status and type. `docs/errors.md` explains each row; a test compares
 * both with the list of promised codes. A code is a promise to clients: one that has been sent
 * keeps its meaning, status and type. The codes that the module of a provider throws are mostly
 * `invalid_request`, for what its service cannot express, and those that begin with `upstream_`.
 * Plugins throw none of them: they return `reject`.
 */
export const ERRORS = frozenTable({
  /** The request is wrong, or the provider cannot express it. */
  invalid_request: { status: 400, type: 'invalid_request_error' },
  /** A plugin refused the request before it was sent. */
  request_rejected: { status: 400, type: 'invalid_request_error' },
  /**
   * For operators who have parameters refused rather than left out: the host throws it by `params`
   * and `ignored`.
   */
  unsupported_parameter: { status: 400, type: 'invalid_request_error' },
  provider_not_resolved: { status: 400, type: 'invalid_request_error' },
  invalid_proxy_path: { status: 400, type: 'invalid_request_error' },
  streaming_not_supported: { status: 400, type: 'invalid_request_error' },
  invalid_scope: { status: 400, type: 'invalid_request_error' },
  not_a_session: { status: 400, type: 'invalid_request_error' },
  invalid_config: { status: 400, type: 'invalid_request_error' },
  missing_api_key: { status: 401, type: 'authentication_error' },
  invalid_api_key: { status: 401, type: 'authentication_error' },
  /** A sign-in with an issuer was not completed. Why is in the log alone. */
  sign_in_failed: { status: 401, type: 'authentication_error' },
  authentication_required: { status: 401, type: 'authentication_error' },
  /** A budget is spent. Trying again does not help, so that it never says when to. */
  insufficient_quota: { status: 402, type: 'insufficient_quota' },
  insufficient_scope: { status: 403, type: 'permission_error' },
  /** The account of the credential, or a tag of it, is blocked; or the account does not exist. */
  access_blocked: { status: 403, type: 'permission_error' },
  model_not_found: { status: 404, type: 'invalid_request_error' },
  provider_not_found: { status: 404, type: 'invalid_request_error' },
  resource_not_found: { status: 404, type: 'not_found_error' },
  method_not_supported: { status: 405, type: 'invalid_request_error' },
  self_mutation_forbidden: { status: 409, type: 'invalid_request_error' },
  /** What was entered once is entered again with another body. */
  idempotency_conflict: { status: 409, type: 'invalid_request_error' },
  last_admin_key: { status: 409, type: 'invalid_request_error' },
  account_exists: { status: 409, type: 'invalid_request_error' },
  account_declared: { status: 409, type: 'invalid_request_error' },
  account_in_use: { status: 409, type: 'invalid_request_error' },
  /** The stored configuration has keys that this program does not know, and would lose them by a write. */
  config_newer: { status: 409, type: 'invalid_request_error' },
  /** A limit of the gateway or of the provider; `retryAfterMs` says when it is over. */
  rate_limit_exceeded: { status: 429, type: 'rate_limit_error' },
  provider_saturated: { status: 429, type: 'rate_limit_error' },
  /** A fault of a plugin whose type fails closed. */
  plugin_error: { status: 500, type: 'server_error' },
  internal_error: { status: 500, type: 'server_error' },
  /** A fault before the request has left, such as a throw of a strategy or of `toUpstream`. */
  routing_error: { status: 500, type: 'server_error' },
  proxy_not_supported: { status: 501, type: 'invalid_request_error' },
  batch_not_configured: { status: 501, type: 'invalid_request_error' },
  responses_not_configured: { status: 501, type: 'invalid_request_error' },
  /** A plugin withheld the answer, which the provider may have charged for. */
  response_rejected: { status: 502, type: 'upstream_error' },
  /**
   * The provider refused the gateway's credential, which is the operator's to mend and not the
   * client's.
   */
  upstream_auth_error: { status: 502, type: 'upstream_error' },
  /** The provider failed, could not be reached, or sent something that cannot be used. */
  upstream_error: { status: 502, type: 'upstream_error' },
  upstream_unavailable: { status: 503, type: 'upstream_error' },
  /** The provider did not connect or answer in time. */
  upstream_timeout: { status: 504, type: 'upstream_error' },
  /** The time that the configuration gives a request is over, whatever the provider does. */
  gateway_timeout: { status: 504, type: 'upstream_error' },

  redacted_secret: { status: 400, type: 'invalid_request_error' },
  version_conflict: { status: 412, type: 'invalid_request_error' },
  request_too_large: { status: 413, type: 'invalid_request_error' },
  not_implemented: { status: 501, type: 'invalid_request_error' },
  store_unavailable: { status: 503, type: 'server_error' },
  /**
   * The issuer of a token does not answer, so that it cannot be checked. It may be valid: the client
   * tries again.
   */
  identity_unavailable: { status: 503, type: 'server_error' },
  /** A stream that had begun failed. Its status is never seen: 200 has been sent by then. */
  stream_error: { status: 502, type: 'stream_error' },
  /** A stream that had begun went silent. */
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
  /**
   * What led to the error. It stands in the log, and never in the client's answer. Keep the error
   * that was caught here, so that the log shows both.
   */
  readonly cause?: unknown;
  /**
   * Replaces the table's status: an upstream 422 keeps its own. Give one only where the client
   * learns something from it; the type stays that of the code.
   */
  readonly status?: number;
  /**
   * Milliseconds the client should wait, from an upstream's hint or a limiter's refill. The client
   * gets it as `Retry-After` in whole seconds. `undefined` where nothing is known.
   */
  readonly retryAfterMs?: number | undefined;
  /** What the upstream did, when the error comes from one. */
  readonly fault?: UpstreamFault;
  /**
   * Characters of the message that a client gets; 2,048 unless said. A message that lists many
   * problems may need more. What is over it is cut when the answer is written.
   */
  readonly messageLimit?: number;
  /**
   * Why, in a word for operators, such as `key_tpm`: it stands in rows of the request log, and never
   * in the client's answer. Where there is none the code says it.
   */
  readonly reason?: string | undefined;
}

/**
 * The kind of an upstream's failure, by its codes and its text. It decides what the client reads,
 * whether the request is repeated or goes on to the next target, and what the breaker counts
 * (docs/reference/data-plane.md#classes-of-faults).
 *
 * - `context_length`: the prompt and the answer it asks for do not fit the model.
 * - `content_policy`: the service declines the content.
 * - `too_large`: the body is larger than the service takes.
 * - `billing`: the gateway's account has no credit left.
 * - `model_access`: the gateway's account may not use the model.
 * - `key`: the service refused the gateway's credential.
 * - `over_rate`: this one request is above the account's rate itself, however long it waits.
 * - `overload`: the service, or the model, is full for everyone.
 */
export type FaultReason =
  | 'context_length'
  | 'content_policy'
  | 'too_large'
  | 'billing'
  | 'model_access'
  | 'key'
  | 'over_rate'
  | 'overload';

/** Token counts that a vendor states of a request that did not fit. What it does not say is absent. */
export interface FaultTokens {
  /** What the request would have taken. */
  readonly asked?: number | undefined;
  /** The most that it may take. */
  readonly limit?: number | undefined;
}

/**
 * How an upstream failed. The pipeline decides from it, never from text, whether to retry, to fail
 * over, and to count a failure for the breaker.
 */
export interface UpstreamFault {
  /**
   * The upstream's HTTP status; absent when no response arrived. It may differ from the status that
   * the client gets: a 401 of the upstream is the client's 502.
   */
  readonly status?: number;
  /**
   * `status`: it answered with a failure. `timeout`: it did not answer in time. `transport`: it
   * could not be reached or broke off. `reply`: it answered 2xx with something unusable.
   */
  readonly kind: 'status' | 'timeout' | 'transport' | 'reply';
  /** What kind of failure it is; `undefined` where the service's codes and text do not tell. */
  readonly reason?: FaultReason | undefined;
  /** The upstream's own word for it, for programs; of several the one that says the kind, else the first. */
  readonly code?: string | undefined;
  /** The token counts that the upstream stated, where the kind is `context_length`. */
  readonly tokens?: FaultTokens | undefined;
  /**
   * True where another request may still be paid for although the kind is `billing`: nothing follows
   * for the target. Also where the text may quote the client.
   */
  readonly ofRequest?: boolean | undefined;
  /** True where the upstream named a wait, and that is none: zero, or a time that is over. */
  readonly asksNoWait?: boolean | undefined;
  /** The member of the request that the upstream blames, as it calls it: `reasoning.summary`. */
  readonly param?: string | undefined;
  /**
   * What the upstream said itself, all of it; never an address or a system's error text. The host
   * redacts it and cuts it to 2,048 characters, in this order, wherever it is shown: in logs and in
   * what clients get.
   */
  readonly message?: string | undefined;
}

/**
 * The one error class. Messages are lower case, name the thing and the limit, and never hold a
 * credential or a body. `status` is an HTTP status, `retryAfterMs` milliseconds. A provider throws
 * one to say what it cannot express or how its vendor failed; with a `fault` it counts as the
 * target's failure, by the status in there, and without one it does not. Any other throw counts as
 * a fault of the module, and is logged as one.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  /** What the client reads as `error.code`. */
  readonly code: ErrorCode;
  /** The class of the error, by the table. */
  readonly type: ErrorType;
  /** The status of HTTP: that of the options, else the table's. */
  readonly status: number;
  /** When trying again makes sense; `undefined` where nothing is known of it. */
  readonly retryAfterMs: number | undefined;
  /** What the upstream did; `undefined` for an error that the gateway or the client made. */
  readonly fault: UpstreamFault | undefined;
  /** Characters of `message` that a client gets; `undefined` for the usual 2,048. */
  readonly messageLimit: number | undefined;
  /** A word for operators; `undefined` where the code says it all. */
  readonly reason: string | undefined;

  /**
   * @param code decides status and type.
   * @param message for people, without the code and without a full stop: `acme did not connect
   * within 10000 ms`.
   * @param options what is known beside that. What is left out is `undefined` on the error, so that
   * a check need not ask whether it is there.
   * @example
   * ```ts
   * import { GatewayError } from 'gw/contract';
   *
   * // In `toUpstream`: nothing is sent.
   * export function refuseAudio(type: string): void {
   *   if (type === 'input_audio') throw new GatewayError('invalid_request', 'acme takes no audio in messages');
   * }
   * ```
   */
  constructor(code: ErrorCode, message: string, options: GatewayErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.type = ERRORS[code].type;
    this.status = options.status ?? ERRORS[code].status;
    this.retryAfterMs = options.retryAfterMs;
    this.fault = options.fault;
    this.messageLimit = options.messageLimit;
    this.reason = options.reason;
  }

  /**
   * The body that a client of the common wire gets. The message is neither redacted nor cut here:
   * the host does both before an answer leaves.
   */
  toEnvelope(): ErrorEnvelope {
    return { error: { message: this.message, type: this.type, code: this.code } };
  }
}

/** Shared by every module of the process. */
Object.freeze(GatewayError.prototype);
Object.freeze(GatewayError);

/**
 * The error for an answer that fails while it arrives. A client whose stream has begun gets
 * `message`, which is the upstream's. For services that answer 200 and put the failure into the
 * body or into an event of the stream. The host reads code and message as it reads those of an error
 * body, and so finds what kind of failure it is; without any it counts as a failure of the target.
 *
 * @param message what the upstream said. It is not the message of the error, which names no vendor.
 * @param options `cause` for the log; `code` and `status` where the failure states them, a status from
 * 400 to 599; `reason` where only the module can tell.
 * @returns the error, to be thrown by `fromUpstream` or by a stream decoder.
 */
export function failedAnswer(
  message: string,
  { cause, ...said }: { readonly cause?: Error } & Pick<UpstreamFault, 'code' | 'reason' | 'status'> = {},
): GatewayError {
  return new GatewayError('upstream_error', 'the provider failed while answering', {
    ...(cause && { cause }),
    fault: { kind: 'reply', message, ...said },
  });
}
