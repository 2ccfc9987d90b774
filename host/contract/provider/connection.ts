import type { HttpSend, Log } from '../services.ts';
import type { KeyShape } from './provider-facts.ts';

/**
 * Values of the environment variables a connection declares, by variable name; unset ones are
 * missing. They hold secrets: put them into headers that `authorize` returns, never into a path, a
 * message or a log.
 */
export type Credentials = Readonly<Record<string, string>>;

/** A key of `settings` of an instance, where more is to be said of it than its variable. */
export interface KindSetting {
  /**
   * The variable it stands for. One that is the key itself is never read from the environment: only
   * an instance of the configuration has it.
   */
  readonly variable: string;
  /** Whether an instance has to set it; unless said, where `env` wants the variable. */
  readonly isRequired?: boolean;
  /** The texts it may be; any, unless said. */
  readonly values?: readonly string[];
}

/** One way to be let in: keys of `secrets` that belong together. */
export interface SecretSet {
  /** All of them are there. None: the service is called without, or with what the process finds by itself. */
  readonly needs: readonly string[];
  /** Each may be there beside them. */
  readonly mayHave?: readonly string[];
}

/** Where a service is, what it needs to be reached, and how a request is authorised. */
export interface Connection {
  /**
   * Variables that must all be set for the provider to be registered; a list inside means any one
   * of them. `['A', ['B', 'C']]` wants `A`, and one of `B` and `C`. An empty list wants none.
   */
  readonly env: readonly (string | readonly string[])[];
  /** Further variables that are read when set. */
  readonly optionalEnv?: readonly string[];
  /** Variable that replaces the API root; `<NAME>_BASE_URL` unless said. */
  readonly baseUrlEnv?: string;
  /** Default API root, or a function of the variables for roots that are composed. */
  readonly baseUrl: string | ((credentials: Credentials) => string);
  /**
   * Reads the configured root: `api-root` gives a bare host the version segment of the default,
   * `host` keeps it as it is.
   */
  readonly rootStyle?: 'api-root' | 'host';
  /**
   * Instead of a style: makes the API root of an address that has no userinfo and no trailing
   * slash. Also sees the default.
   */
  readonly root?: (address: string, defaultRoot: string) => string;
  /** Headers that carry the credential. Runs last, on the final request. */
  readonly authorize?: Authorize;
  /**
   * Opens what needs I/O (tokens, credential chains); the only provider code that may do any. It
   * runs before anything is served, and has 30 seconds.
   */
  open?(credentials: Credentials, deps: ConnectionDeps): OpenConnection | Promise<OpenConnection>;
  /**
   * Models that the provider's own variables name. `warn` tells the operator what was left out or
   * is out of date.
   */
  models?(credentials: Credentials, warn: (message: string) => void): readonly string[];
  /**
   * What a declared instance (docs/configuration.md#providers) writes under `settings`, by key, and
   * the variable that each stands for. Unless said: every variable that is neither a secret nor the
   * address, its name in lower case without the name of the provider.
   */
  readonly settings?: Readonly<Record<string, string | KindSetting>>;
  /**
   * Secrets of a declared instance by key, and the variable that each stands for. Unless said:
   * `api_key` for the first of `env` that ends in `_KEY` or `_TOKEN`, and every variable that
   * ends in `KEY`, `TOKEN`, `SECRET` or `PASSWORD`, named as settings are.
   */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Which of `secrets` go together. Unless said: those that `env` wants, and perhaps others. */
  readonly secretSets?: readonly SecretSet[];
  /**
   * Whether a declared instance has to say its address, because the default does not reach it.
   * Unless said, where `env` wants `baseUrlEnv`.
   */
  readonly needsAddress?: boolean;
  /** True for a provider that only the configuration registers, under any name: the environment does not. */
  readonly onlyDeclared?: boolean;
  /** Variable that names the one model which every chat goes to: the deployment of a resource. */
  readonly chatModelEnv?: string;
  /**
   * What its credentials look like, where they can be recognised: hidden in all logs and errors,
   * configured or not.
   */
  readonly keyShapes?: readonly KeyShape[];
  /** Milliseconds to connect, 10,000 unless said. */
  readonly connectTimeoutMs?: number;
  /**
   * Milliseconds to the response headers of a unary call; unless said 120,000, and more where the
   * answer may be long. The headers of a whole answer come when it is written, so a bound that is
   * too short cuts off what is then paid for twice.
   */
  readonly headersTimeoutMs?: number;
}

/** What `open` of a connection works with, given once per configuration. */
export interface ConnectionDeps {
  /** Structured log; every line names the provider. */
  readonly log: Log;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** API root without a trailing slash, as it is configured. */
  readonly root: string;
  /** One request over the pooled transport, for tokens; redirects are never followed. */
  readonly send: HttpSend;
  /**
   * Whether credentials may be looked for beside those that are given: in files of the process's
   * user, or in the metadata of its machine. False for an instance of the configuration that has
   * secrets of its own: it must never call with another account's.
   */
  readonly mayLookFurther: boolean;
}

/** What `open` returns: a connection that holds something, such as a token that it renews. */
export interface OpenConnection {
  /** Takes the place of `authorize` of the connection. */
  readonly authorize: Authorize;
  /** Runs once when nothing uses the connection any more. What it throws is logged. */
  dispose?(): void | Promise<void>;
}

/**
 * The request as it will leave, for schemes that sign it. Nothing of it changes between `authorize`
 * and the wire, so a signature over it holds.
 */
export interface OutgoingRequest {
  /** The method of HTTP, in capitals. */
  readonly method: string;
  /** The whole address, its query included. */
  readonly url: string;
  /** Headers by lower-case name, without those that carry the credential. */
  readonly headers: Readonly<Record<string, string>>;
  /** An iterable for forms, whose files are streamed. */
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
}

type Headers = Readonly<Record<string, string>>;
/**
 * Returns the headers that carry the credential, by lower-case name. It gets the request as it will
 * leave, and the variables that the connection names; what it throws fails the call. A promise is
 * waited for, before every call: return the headers at once where nothing has to be fetched.
 *
 * @example
 * ```ts
 * import type { Authorize } from 'gw/contract';
 *
 * export const authorize: Authorize = ({ method }, { ACME_ID = '', ACME_KEY = '' }) => ({
 *   authorization: `Acme ${ACME_ID}:${ACME_KEY}`,
 *   'x-acme-method': method.toLowerCase(),
 * });
 * ```
 */
export type Authorize = (request: OutgoingRequest, credentials: Credentials) => Headers | Promise<Headers>;
