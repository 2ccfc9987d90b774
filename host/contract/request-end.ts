/**
 * Whose doing the end of a request was.
 * - `ok`: it was answered.
 * - `client`: the request was wrong, or the client left.
 * - `policy`: a rule of the operator refused it, or withheld the answer.
 * - `budget`: a budget is spent.
 * - `rate`: it came too soon, or too many came together.
 * - `provider`: the provider failed, or refused the gateway.
 * - `gateway`: anything else; the gateway itself, a plugin that failed, a store that is away.
 */
export type RequestOutcome = 'ok' | 'client' | 'policy' | 'budget' | 'rate' | 'provider' | 'gateway';

/** How a request ended, in words for its operator. */
export interface RequestEnd {
  /**
   * The status of HTTP that the client gets: 200 of a stream that failed later, 101 of a connection
   * that left HTTP, 499 where nothing was sent because the client had left.
   */
  readonly status: number;
  /** Whose doing it was. */
  readonly outcome: RequestOutcome;
  /** Code of the error, also of one that ended a stream; `undefined` without an error. */
  readonly code: string | undefined;
  /**
   * Why, in a word of a closed list such as `key_models`, `upstream_rate` or `plugin:word-filter`;
   * `undefined` of what went well. Clients do not get it.
   */
  readonly reason: string | undefined;
  /** Status of the last reply that a provider gave; `undefined` where none did. */
  readonly upstreamStatus: number | undefined;
  /** What the provider said itself of the last attempt that failed, not redacted. */
  readonly upstreamMessage: string | undefined;
}

/** Where a request came from. Clients write the second member, so that it proves nothing. */
export interface RequestOrigin {
  /** The client's address, behind trusted proxies the one that they name. */
  readonly address: string;
  /** The header `User-Agent`. */
  readonly userAgent: string | undefined;
  /** The method of HTTP. */
  readonly method: string;
  /** The path, without its query. */
  readonly path: string;
}
