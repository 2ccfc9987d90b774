import type { GivenColumns } from './log-columns.ts';
import type { Prices, TokenPrice } from './money/cost.ts';
import type { Exchange, Stage } from './exchange.ts';
import type { CounterName, FigureLabels, HistogramName } from './figures.ts';

/** What a log line says beside its message, by name. */
export type Attributes = Readonly<Record<string, unknown>>;

/** Structured log. Every string passes the one redaction; message first, attributes beside it. */
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
 * of its labels, and no other.
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
 * object.
 */
export interface Carryover {
  /**
   * `dispose` runs once the last generation that leased the key is gone. One that fails is logged,
   * and keeps nothing else from being closed.
   */
  lease<T>(key: string, create: () => T, dispose?: (value: T) => void | Promise<void>): T;
}

/** A token bucket: `burst` is its size, it starts full and refills by `ratePerSecond`. */
export interface BucketSpec {
  /** Tokens that come back in a second, up to `burst`. */
  readonly ratePerSecond: number;
  /** Tokens that a full bucket holds. */
  readonly burst: number;
  /**
   * Buckets of one group, up to 100,000, make room for each other only. Without one they share a
   * group.
   */
  readonly group?: string;
}

/**
 * State that replicas share when a shared store is configured, and of this process otherwise. Keys
 * are free text. It is bounded: of more than 100,000 buckets of a group, numbers or values, or 64
 * MiB of values, the least recently used are forgotten first.
 */
export interface SharedState {
  /**
   * Takes `cost` tokens when at least `floor` (default: the cost) are there. `retryAfterMs` is 0
   * when taken.
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
  /** Forgets number and value. */
  delete(key: string): Promise<void>;
}

/** Prices as plugins get them. */
export interface PluginPrices extends Prices {
  /**
   * The highest price of each class among the targets that serve the model: what a request may
   * cost, before one of them is chosen.
   */
  readonly highest: (exchange: Exchange) => TokenPrice | undefined;
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
  /** Headers by name; those of the connection are the host's. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A text leaves as UTF-8; none unless given. */
  readonly body?: string | Uint8Array;
  /** Milliseconds for the whole call. */
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

/** One outbound call of a plugin. Redirects are never followed; failures throw. */
export type HttpSend = (request: HttpRequest) => Promise<HttpReply>;

/**
 * A row of the request log, one per plugin stage, with the columns of `log-columns.ts`. Times in
 * milliseconds, money in US dollars.
 */
export interface RequestLogRow extends GivenColumns {
  /** The stage that the row was written at. */
  readonly stage: Stage;
}

/** Where rows go. Writing never waits and never fails the request. */
export interface RequestLog {
  /** Takes one row; it is written later, together with others. */
  append(row: RequestLogRow): void;
  /**
   * Writes the row's error onto the row of the same trace at `stage`, where there is one and it has
   * no error; appends the row where there is none. A blank trace id matches nothing.
   */
  annotate(stage: Stage, row: RequestLogRow): void;
}
