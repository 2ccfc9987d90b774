import type { GivenColumns } from './log-columns.ts';
import type { Prices, TokenPrice } from './money/cost.ts';
import type { Exchange, Stage } from './exchange.ts';
import type { CounterName, FigureLabels, HistogramName } from './figures.ts';

/**
 * What a log line says beside its message, by name. An `Error` under `error` is shown with its
 * causes. Names are `snake_case`, as in the gateway's own lines.
 */
export type Attributes = Readonly<Record<string, unknown>>;

/**
 * Structured log. Every string passes the one redaction; message first, attributes beside it. A
 * line is bounded in length. Never log a body or a credential, although both would be cut or
 * hidden: who reads the log need not be who may read them.
 */
export interface Log {
  /** What helps to follow a single request; hidden unless `LOG_LEVEL` asks for it. */
  debug(message: string, attributes?: Attributes): void;
  /** What an operator wants to know of a gateway that works. */
  info(message: string, attributes?: Attributes): void;
  /** What works, and should not be left as it is. */
  warn(message: string, attributes?: Attributes): void;
  /** What does not work. */
  error(message: string, attributes?: Attributes): void;
}

/** Labels of a figure by name. Few values each: every combination is a series of its own. */
export type Labels = Readonly<Record<string, string>>;

/**
 * Names of a module's own figures. Those that begin as the gateway's do stand in its table
 * (`figures.ts`), or are refused.
 */
type OwnName<N extends string> = N extends `gateway_${string}` | `gw_${string}` ? never : N;

/**
 * Figures by name and labels, as the metrics endpoint names them. A figure of the gateway has all
 * of its labels, and no other. Nothing waits; while neither an endpoint nor an exporter keeps
 * figures, a call costs next to nothing.
 *
 * @example
 * ```ts
 * import type { Counters } from 'gw/contract';
 *
 * export function count(counters: Counters, ms: number): void {
 *   counters.add('my_lookups_total', { result: 'found' });
 *   counters.observe('my_lookup_ms', ms);
 * }
 * ```
 */
export interface Counters {
  /** Counts up; `by` is 1 unless said. */
  add<N extends string>(name: OwnName<N>, labels?: Labels, by?: number): void;
  /** Counts up; the figure is made on first use. */
  add<N extends CounterName>(name: N, labels: FigureLabels<N>, by?: number): void;
  /** One sample of a distribution, in the unit its name states. */
  observe<N extends string>(name: OwnName<N>, value: number, labels?: Labels): void;
  /** Takes one sample; the figure is made on first use. */
  observe<N extends HistogramName>(name: N, value: number, labels: FigureLabels<N>): void;
}

/**
 * Objects of this process that outlive a configuration change, by key. The same key gives the same
 * object. For what is costly to lose when an operator changes the configuration: caches,
 * connections, windows of time. What replicas must agree on belongs into `SharedState`.
 */
export interface Carryover {
  /**
   * `dispose` runs once the last generation that leased the key is gone. One that fails is logged,
   * and keeps nothing else from being closed.
   *
   * @param key shared by all modules of the process: begin it with the plugin's `identity`, and add
   * a version where the shape of the object changes.
   * @param create called where no generation holds the key; the others get the object that it made.
   * @param dispose that of the call which made the object counts. It has 5 seconds.
   * @returns the object. It is what an earlier configuration left, so settings that have changed
   * since must not stand in it.
   */
  lease<T>(key: string, create: () => T, dispose?: (value: T) => void | Promise<void>): T;
}

/**
 * A token bucket: `burst` is its size, it starts full and refills by `ratePerSecond`. A rate per
 * minute is a sixtieth of it in `ratePerSecond`, with the whole of it as `burst`.
 */
export interface BucketSpec {
  /** Tokens that come back in a second, up to `burst`. */
  readonly ratePerSecond: number;
  /** Tokens that a full bucket holds. */
  readonly burst: number;
  /**
   * Buckets of one group, up to 100,000, make room for each other only. Without one they share a
   * group. Give the plugin's `identity`, so that a flood of keys elsewhere does not make this one's
   * buckets full again.
   */
  readonly group?: string;
}

/**
 * State that replicas share when a shared store is configured, and of this process otherwise. Where
 * operators name a server for limits (`GW_STATE_URL`), buckets are one over all replicas, and
 * numbers and values stay those of this process. Keys are free text. It is bounded: of more than 100,000 buckets of a group, numbers or values, or 64
 * MiB of values, the least recently used are forgotten first. Keys longer than 256 characters are
 * kept as their beginning and a digest. Begin them with the plugin's `identity`: all plugins share
 * one space.
 *
 * Forgetting is not a fault: a bucket that was forgotten is full, a number is 0, a value is gone.
 * Keep nothing here that money depends on; that is what ledgers are for.
 */
export interface SharedState {
  /**
   * Takes `cost` tokens when at least `floor` (default: the cost) are there. `retryAfterMs` is 0
   * when taken.
   *
   * @param key of the bucket, within the group of `spec`.
   * @param spec may change from call to call; what is in the bucket stays, up to the new `burst`.
   * @param cost tokens to take; less than 0 gives back.
   * @param floor tokens that must be there. Below the cost it lets the bucket go into debt, which
   * the next callers wait for: for costs that are known only afterwards.
   * @returns whether they were taken; else in how many milliseconds they could be, if nothing else
   * takes any.
   */
  take(
    key: string,
    spec: BucketSpec,
    cost: number,
    floor?: number,
  ): Promise<{ readonly taken: boolean; readonly retryAfterMs: number }>;
  /**
   * Adds to a number that starts at 0, and returns the sum; adding 0 reads it. It starts at 0 again
   * when it was not used for `ttlMs` milliseconds, 31 days unless said. Throws when `by` is not
   * finite.
   */
  add(key: string, by: number, ttlMs?: number): Promise<number>;
  /** A copy of the value, unless its time is over or it was forgotten. */
  get(key: string): Promise<Uint8Array | undefined>;
  /**
   * Keeps a copy of a value for `ttlMs` milliseconds, a text as its UTF-8, and forgets the one
   * before it. A value of more than 8 MiB is not kept. Throws for anything but bytes and texts.
   */
  set(key: string, value: Uint8Array | string, ttlMs: number): Promise<void>;
  /** Forgets number and value. A bucket of that key stays. */
  delete(key: string): Promise<void>;
  /**
   * True where values are those of several processes. Who keeps copies in memory then looks here for
   * what memory lacks. Absent where values are of this process alone.
   */
  readonly sharesValues?: boolean;
  /**
   * Where processes share values: begins work that one of them does for all, or waits for it. Absent
   * otherwise.
   *
   * @param key names the work. Begin it with the plugin's `identity`, as the keys of values.
   * @returns the flight. While the process that holds the flights does not answer, each caller is
   * the first of its own.
   */
  readonly flight?: (key: string) => Promise<SharedFlight>;
}

/**
 * Work that one of several processes does for all. Either `land` or `landed` is there. A process
 * that ends before it has called `land` counts as one that left, and others need not wait in vain.
 */
export interface SharedFlight {
  /** For whom is to do the work: must be called once, with whether another one should do it. */
  readonly land?: (isLeft: boolean) => void;
  /** For all others: resolves when the work is over, with whether another one should do it. */
  readonly landed?: Promise<boolean>;
}

/** Prices as plugins get them. Whatever is asked is answered from memory, at once. */
export interface PluginPrices extends Prices {
  /**
   * The highest price of each class among the targets that serve the model: what a request may
   * cost, before one of them is chosen. A class that one target does not price counts as the others
   * price it; `undefined` where the catalog prices none of them. With the tokens of its `prompt`
   * it is the price of that length, and of the tier that the request asks for.
   */
  readonly highest: (exchange: Exchange, prompt?: number) => TokenPrice | undefined;
  /**
   * Most tokens of one choice that any target which serves the model can answer; `undefined` where
   * the catalog does not know it of all of them.
   */
  readonly longestAnswer: (exchange: Exchange) => number | undefined;
}

/** One outbound call of a module. */
export interface HttpRequest {
  /** The method of HTTP. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';
  /** The whole address; http or https. */
  readonly url: string;
  /**
   * Headers by name; those of the connection are the host's. A credential of the plugin's own
   * belongs here, out of its settings; it comes from no provider.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /** A text leaves as UTF-8; none unless given. */
  readonly body?: string | Uint8Array;
  /**
   * Milliseconds for the whole call. 10,000 unless said. It covers connecting, the headers and the
   * body together.
   */
  readonly timeoutMs?: number;
}

/** The answer to an outbound call, read to its end. */
export interface HttpReply {
  /** The status of HTTP; redirects come back as they are. */
  readonly status: number;
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes of the body; empty where there is none. */
  readonly body: Uint8Array;
}

/**
 * One outbound call of a plugin. Redirects are never followed; failures throw. Any status resolves,
 * 500 as well: check it. What throws is a `GatewayError`: `gateway_timeout` when the time is over,
 * and `upstream_error` or `upstream_timeout` when no response arrived. A plugin that lets it
 * through has failed, and the host treats it by the plugin's type.
 */
export type HttpSend = (request: HttpRequest) => Promise<HttpReply>;

/**
 * A row of the request log, one per plugin stage, with the columns of `log-columns.ts`. Times in
 * milliseconds, money in US dollars.
 */
export interface RequestLogRow extends GivenColumns {
  /** The stage that the row was written at. */
  readonly stage: Stage;
}

/**
 * Where rows go. Writing never waits and never fails the request. The store writes in batches. What
 * does not fit its queue is dropped and counted, so that a slow database never slows requests down.
 */
export interface RequestLog {
  /** Takes one row; it is written later, together with others. */
  append(row: RequestLogRow): void;
  /**
   * Writes the row's error onto the row of the same trace at `stage`, where there is one and it has
   * no error; appends the row where there is none. A blank trace id matches nothing. For failures
   * that come after the row of the answer has been written.
   */
  annotate(stage: Stage, row: RequestLogRow): void;
}
