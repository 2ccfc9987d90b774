import type { ObjectSchema } from 'joi';
import type { Exchange, ExchangeOutcome, Stage } from './exchange.ts';
import type { Ledger, LedgerBounds } from './money/ledger.ts';
import type { Carryover, Counters, HttpSend, Log, PluginPrices, RequestLog, SharedState } from './services.ts';
import type { Surface } from './surface.ts';
import type { Rejection, Verdict } from './verdict.ts';
import type { ChatChunk } from './wire/chat.ts';

/**
 * Settings with a meaning to the host, for guardrails that declare them. `observe: true` serves
 * what the guardrail rejects and logs the reason. `stream` says what a rejection of a streamed
 * answer does: `end` sends an error event after the text, `record` only logs it, `window` leaves it
 * to the guard that `PluginHandlers.stream` makes. `fail: open` lets requests pass, with a warning,
 * when the guardrail itself fails.
 */
export interface GuardrailSettings {
  /** True: nothing is refused, the reason is only logged. False unless said. */
  readonly observe?: boolean;
  /** What a rejection of a streamed answer does; `end` unless said. */
  readonly stream?: 'end' | 'window' | 'record';
  /**
   * What a fault of the guardrail does: `closed` ends the request, `open` lets it go on. `closed`
   * unless said.
   */
  readonly fail?: 'closed' | 'open';
}

/**
 * What a plugin is for. `logging` and `metrics` fail open: their faults are logged and the request
 * goes on. All others fail closed with 500 `plugin_error`, guardrails unless their settings say
 * `fail: open`.
 */
export type PluginType = 'guardrail' | 'ratelimit' | 'logging' | 'metrics' | 'transform' | 'auth';

/**
 * A plugin as data and one function. `definePlugin` makes one; the host refuses unknown fields, and
 * checks the others when it loads the file. Fields that are functions of the settings
 * (`readsContent`, `readsUsage`, `needsBody`, `checkStages`) answer by the settings alone, and at
 * once: `gw validate` asks them too, where nothing runs.
 */
export interface PluginModule<S extends object = object> {
  /** The kind of module; stamped by `definePlugin`. */
  readonly kind: 'plugin';
  /** What it was written for; the host refuses what it does not speak. */
  readonly contract: number | string;
  /** Name in the configuration, equal to the file or folder name. */
  readonly name: string;
  /**
   * What it is for: decides what its refusals are called, and whether its faults end the request.
   */
  readonly type: PluginType;
  /** One line for the catalogue. */
  readonly summary: string;
  /**
   * Stages it may be listed at. `create` must return a handler for each of them that the
   * configuration lists.
   */
  readonly stages: readonly Stage[];
  /**
   * Surfaces it runs on; all when omitted. A body on a surface that a content guardrail leaves out
   * is refused with 400.
   */
  readonly surfaces?: readonly Surface[];
  /**
   * Whether it reads content with these settings; guardrails do unless they say otherwise, here or
   * in `needsBody`. A body that holds content no plugin can read is refused while a
   * `before_request` guardrail reads content.
   */
  readsContent?(settings: S): boolean;
  /**
   * Whether it counts what answers use with these settings. While it does, the usage of answers
   * that are forwarded is read as well.
   */
  readsUsage?(settings: S): boolean;
  /**
   * Whether it needs anything of bodies that are only forwarded (`passthrough`, `responses`), be it
   * a single member such as `user`; it does unless it says otherwise. Where no plugin before the
   * request does, such a body goes on as it arrives, and `request` holds no more of it than the
   * host looked for itself: the model, where the request does not name its provider.
   */
  needsBody?(settings: S): boolean;
  /**
   * True of a content guardrail that refuses `unreadable` requests itself, with a reason of its
   * own, on surfaces whose bodies can be read as a rule. Otherwise, and everywhere else, the host
   * refuses them before any plugin runs.
   */
  readonly refusesUnreadable?: boolean;
  /**
   * For transforms: true when it never changes the model, so that unroutable models are refused
   * before plugins run.
   */
  readonly keepsModel?: boolean;
  /**
   * Code of its `before_request` rejections. Omitted: `rate_limit_exceeded` for `ratelimit`, else
   * `request_rejected`. It does not change what a refusal at `after_request` is:
   * `response_rejected`.
   */
  readonly rejectsAs?: 'request_rejected' | 'rate_limit_exceeded' | 'insufficient_quota';
  /**
   * Joi schema of the settings; its keys, in order, are the catalogue's. Unknown keys are refused.
   * Defaults of the schema are filled in before `create` gets the settings. A schema that must be
   * waited for (`external()`) is refused.
   */
  readonly settings: ObjectSchema<S>;
  /**
   * Settings that work and stand in no catalogue: the admin API shows neither their names nor their
   * values.
   */
  readonly unlistedSettings?: readonly string[];
  /**
   * Settings that are accepted and ignored, each with one warning, and what takes their place; they
   * stand in no catalogue.
   */
  readonly toleratedSettings?: Readonly<Record<string, string>>;
  /**
   * Rules the schema cannot state: returns what is wrong with being listed at just these stages,
   * with the fix. `undefined` where they are all right.
   */
  checkStages?(stages: readonly Stage[], settings: S): StageProblem | undefined;
  /**
   * Makes one instance per distinct settings; the instance is shared by all stages that list them.
   * May reject: the configuration is then refused.
   *
   * @param settings checked, with references replaced and defaults filled in.
   * @param deps what the instance works with until it is disposed of.
   * @returns the handlers. What they have in common stands in the closure of this call, never at
   * the top level of the file: two configurations may be in force at once while one is replaced.
   * @throws whatever is thrown refuses the configuration under `PB01`, and so does a promise that
   * takes longer than 10 seconds.
   */
  create(settings: S, deps: PluginDeps): PluginHandlers | Promise<PluginHandlers>;
}

/**
 * What is wrong with the stages that a configuration lists a plugin at. It refuses the
 * configuration.
 */
export interface StageProblem {
  /** What is wrong, in lower case and without the plugin's name. */
  readonly message: string;
  /** What the operator can do about it. */
  readonly fix: string;
}

/**
 * A handler of one stage. `undefined` goes on; a promise is waited for up to the bound of its
 * stage.
 */
type Handler = (exchange: Exchange) => Verdict | undefined | void | Promise<Verdict | undefined | void>;

/**
 * One function per declared stage, and two more where needed. A throw is a fault of the plugin,
 * treated by its type; do not catch to decide fail-open or fail-closed.
 */
export interface PluginHandlers {
  /**
   * Runs before the provider is called, on the request as earlier plugins left it. A guardrail, a
   * limit or an `auth` plugin runs again before each further turn of a loop of tool calls.
   */
  before_request?: Handler;
  /**
   * Runs when the whole answer is there; of a stream, after its last chunk. A rejection of a stream
   * comes late: what has been delivered cannot be taken back. Guard it by `stream` where that
   * matters.
   */
  after_request?: Handler;
  /** Runs for every failure, its own rejections included. Its verdict is ignored. */
  on_error?: Handler;
  /**
   * Called once per streamed answer, before any of it is there; the guard then runs at
   * `after_request`. `undefined`: this stream is not guarded, and its text is not parsed for it.
   */
  stream?: (exchange: Exchange) => StreamGuard | undefined;
  /**
   * Runs exactly once per exchange, whatever stages are listed, so that what was reserved is
   * released. It is synchronous; a promise that it leaves behind all the same gets 10 seconds.
   */
  finished?: (exchange: Exchange, outcome: ExchangeOutcome) => void;
  /**
   * Runs once when the last request that uses the instance has ended. It has 5 seconds. Close here
   * what `create` opened, timers too; what `carryover` keeps goes by its own `dispose`.
   */
  dispose?: () => void | Promise<void>;
}

/**
 * Stands between the provider and the client. What it holds back it must yield later or reject. One
 * guard serves one stream, and sees all its choices. It is synchronous, because each piece of each
 * answer passes it. Write one only where `windowGuard` and `filterGuard` do not do: the rules of
 * what may be held are in docs/modules.md#a-plugin.
 */
export interface StreamGuard {
  /**
   * Called per chunk in order; returns what may go on now, or ends the stream with a rejection. The
   * chunk may be changed in place. An empty list holds it back; more than one lets out what was
   * held before.
   */
  push(chunk: ChatChunk): readonly ChatChunk[] | Rejection;
  /**
   * Called once after the last chunk; returns the rest. Not called for a stream that broke off or
   * was rejected.
   */
  end(): readonly ChatChunk[] | Rejection;
  /** What it put out of sight so far, in words that may be logged; counted as `masked`, once. */
  readonly masked?: string | undefined;
  /**
   * True when nothing may be delivered before every `after_request` has let the whole answer go.
   * The client then waits as if the answer were not streamed.
   */
  readonly awaitsVerdict?: boolean;
}

/**
 * What a plugin works with, given to `create` once per instance. Frozen: keep it in the closure of
 * `create`.
 * @example
 * ```ts
 * import { ExchangeNote, type PluginDeps, type PluginHandlers } from 'gw/contract';
 *
 * // Measures how long the provider takes, by the clock of the gateway.
 * export function create(_settings: object, { now, counters, log }: PluginDeps): PluginHandlers {
 *   const begun = new ExchangeNote<number>();
 *   return {
 *     before_request: (exchange) => begun.put(exchange, now()),
 *     finished(exchange, outcome) {
 *       const since = begun.get(exchange);
 *       if (since === undefined) return;
 *       counters.observe('my_provider_ms', now() - since, { target: exchange.target ?? 'none' });
 *       if (outcome === 'error') log.warn('a call failed', { ms: now() - since });
 *     },
 *   };
 * }
 * ```
 */
export interface PluginDeps {
  /**
   * Structured log; each line names the plugin and, while it runs for a request, the request's id.
   */
  readonly log: Log;
  /**
   * Name of what this instance remembers: the same for the same plugin and settings, also after a
   * configuration change.
   */
  readonly identity: string;
  /**
   * A text without credentials, bounded in length: for what leaves the gateway by another way than
   * `log`. Use it for messages to other services: what an upstream or a client wrote may hold a
   * key.
   */
  readonly redact: (text: string) => string;
  /**
   * Unix milliseconds. Tests can set it, unlike `Date.now`. For a span of time it may run backwards
   * by an adjustment of the clock.
   */
  readonly now: () => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Figures for the metrics endpoint. */
  readonly counters: Counters;
  /** Objects of this process that outlive a configuration change, such as a cache. */
  readonly carryover: Carryover;
  /** Buckets, sums and values that replicas share where a shared store is configured. */
  readonly state: SharedState;
  /**
   * The ledger of this name, which outlives configurations. Its bounds are those of the first call
   * that asks for it.
   *
   * @param name shared by all plugins of the process: choose one that no other plugin would.
   */
  readonly ledger: (name: string, bounds: LedgerBounds) => Ledger;
  /**
   * Catalog prices as they stand when they are asked for: a refresh of the catalog reaches plugins
   * that run.
   */
  readonly prices: PluginPrices;
  /**
   * For plugins that call out. The whole call has 10 seconds unless its `timeoutMs` says otherwise.
   */
  readonly send: HttpSend;
  /** `undefined` when no request-log store is configured. */
  readonly requestLog: RequestLog | undefined;
}
