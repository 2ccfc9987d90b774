import type { ObjectSchema } from 'joi';
import type { TokenPrice } from './money/cost.ts';
import type { Principal } from './exchange.ts';
import type { Carryover, Log } from './services.ts';
import type { Surface } from './surface.ts';

/**
 * A strategy as data and one function. `defineStrategy` makes one; the host refuses unknown fields,
 * and checks the others when it loads the file. It decides the order alone. Whether a target is
 * healthy, parked or full is the host's to look at, behind the strategy.
 */
export interface StrategyModule<S extends object = object> {
  /** The kind of module; stamped by `defineStrategy`. */
  readonly kind: 'strategy';
  /** What it was written for; the host refuses what it does not speak. */
  readonly contract: number | string;
  /** The `strategy.mode` that selects it, equal to the file or folder name. */
  readonly name: string;
  /** One line for the catalogue. */
  readonly summary: string;
  /**
   * What happens when a target fails: true walks on to the next of the list, false (the default)
   * reports the failure of the first target that serves the surface. Which failures walk on at all
   * is in docs/reference/data-plane.md#failures-that-go-on-to-the-next-target.
   */
  readonly advances?: boolean;
  /**
   * What `affinity: session` makes of its order. Omitted: the order may differ from request to
   * request, and the host remembers what served each session.
   */
  readonly sessions?: SessionOrder;
  /**
   * Joi schema of `strategy.settings`; shipped strategies may read other keys of the `strategy`
   * block, see `settingsFrom`.
   */
  readonly settings: ObjectSchema<S>;
  /** Keys of the `strategy` block that make up the settings, instead of `strategy.settings`. */
  readonly settingsFrom?: readonly string[];
  /**
   * Joi schema of `targets[].settings`, for every target alike. Without it, settings of a target
   * are refused.
   */
  readonly targetSettings?: ObjectSchema;
  /**
   * Rules that need the targets, such as weights. Only called when the settings pass.
   *
   * @param settings with the defaults of the schema.
   * @param targets as declared, in their order; `serves` is not known yet.
   * @param place where the block and the list of targets stand: in a group of models the routes of
   * the group are the targets. A problem whose path begins with `strategy` or `targets` is moved
   * there by the host, so that a strategy need not look at it.
   * @returns all problems at once, each with the path of the value that is wrong; empty where there
   * are none.
   */
  check?(settings: S, targets: readonly StrategyTarget[], place?: StrategyPlace): readonly StrategyProblem[];
  /**
   * Called once per applied configuration. Whatever passes the checks must construct. Returns the
   * ranking, alone or with what else it does. What it keeps in its closure ends with the
   * configuration, so that each change begins anew, except for what `carryover` holds.
   */
  create(settings: S, deps: StrategyDeps): Rank | RunningStrategy;
}

/**
 * How an order comes about, for requests of one session.
 *
 * - `spread`: targets share requests by weight. The host puts an order of the session's own in the
 *   place of a drawn one, with the same shares over many sessions.
 * - `declared`: the order is what the operator prefers. A session that had to move goes back ten
 *   minutes later.
 * - `repeatable`: the order follows from the request and from `query.random`.
 */
export type SessionOrder = 'spread' | 'declared' | 'repeatable';

/**
 * A ranking that learns from what became of the calls, or holds something. Use it for strategies
 * that send a client back to its last target, or that avoid one after a failure.
 */
export interface RunningStrategy {
  /** Orders the targets of one request. */
  readonly rank: Rank;
  /**
   * Called with how each call of a target ended. Synchronous; what it throws is logged, and changes
   * nothing. Other requests may have been ranked since this one was.
   */
  readonly settled?: (call: SettledCall) => void;
  /** Runs once when the last request that uses the configuration has ended. */
  readonly dispose?: () => void | Promise<void>;
}

/** One call of one target that has ended, refusals of breaker and limiter included. */
export interface SettledCall {
  /** The target, by its name in the configuration. */
  readonly virtualKey: string;
  /** The exchange it was made for: calls of one request have one id. */
  readonly exchangeId: string;
  /** `failure` is the target's fault; `ignored` is not: the client left, a limit was reached. */
  readonly outcome: 'success' | 'failure' | 'ignored';
  /**
   * Milliseconds of the call; of a stream, to its first chunk. `undefined` when none was made. A
   * failure may be quick: do not take its time for speed.
   */
  readonly durationMs: number | undefined;
}

/** Where a strategy stands in the document, for the paths and the words of its problems. */
export interface StrategyPlace {
  /** Path of its block: `strategy`, of a group of models `models[2].strategy`. */
  readonly strategy: string;
  /** Path of the list that it ranks: `targets`, of a group of models `models[2].routes`. */
  readonly targets: string;
  /** What an entry of that list is called. */
  readonly entry: 'target' | 'route';
}

/** The strategy of the document itself. */
export const TOP_LEVEL: StrategyPlace = Object.freeze({ strategy: 'strategy', targets: 'targets', entry: 'target' });

/** Something wrong with a strategy's settings or its targets. It refuses the configuration. */
export interface StrategyProblem {
  /** Path inside the document, for example `targets[1].weight`. */
  readonly path: string;
  /** Id of the rule that is broken. */
  readonly rule: string;
  /** What is wrong, in lower case. */
  readonly message: string;
  /** What the operator can do about it. */
  readonly fix: string;
}

/**
 * Synchronous and pure: sorts or drops what it is given and returns a new list. It never invents or
 * repeats a target. What it leaves out gets no traffic at all, not even when everything else fails.
 * It is asked once for each turn of a request, on its path, and must be quick. A copy of a target
 * stands for the target that it names.
 *
 * @param targets all declared ones, in their order, also those that do not serve the model:
 * `serves` tells. Do not sort this list in place.
 * @param query what may be looked at; its functions compute when they are called.
 * @param notes absent where nothing listens. The decision must not depend on it.
 * @returns the order in which targets are tried. An empty list ends the request with a 404. A
 * promise, or anything else that is not a list, is a fault: 500 `routing_error`.
 * @throws anything: a fault too, which is logged as `strategy failed`.
 */
export type Rank = (targets: readonly RouteTarget[], query: RouteQuery, notes?: RankNotes) => readonly RouteTarget[];

/**
 * What a ranking may say beside its order. A note that is not wanted is absent, so that
 * `notes?.target?.(…)` costs a request nothing.
 */
export interface RankNotes {
  /** The variant of an experiment that the request takes part in: log rows and figures carry it. */
  variant?(label: string): void;
  /** Why nothing is left, for the 404 that follows. */
  nothing?(why: string): void;
  /**
   * The rule that decided, as a path inside the `strategy` block: `conditions[1]`. Only asked for
   * by an explanation.
   */
  rule?(path: string): void;
  /**
   * Why a target stands where it does or was left out, with the figures it was judged by. Only
   * asked for by an explanation.
   */
  target?(virtualKey: string, why: string, figures?: RankFigures): void;
}

/**
 * By name with its unit, as an explanation shows them: `median_ms`, `cost_usd`. Round nothing: the
 * explanation does that.
 */
export type RankFigures = Readonly<Record<string, number>>;

/** A target as strategies see it: its name, its weight and its own settings. */
export interface StrategyTarget {
  /** The name of the target in the configuration. */
  readonly virtualKey: string;
  /** 0 when omitted. */
  readonly weight: number;
  /**
   * `targets[].settings`, checked by `targetSettings` and with its defaults; absent for a strategy
   * that has none.
   */
  readonly settings?: Readonly<Record<string, unknown>>;
}

/**
 * A target while a request is routed. A ranking returns these objects, or copies of them, in the
 * order to try them in.
 */
export interface RouteTarget extends StrategyTarget {
  /**
   * True when its provider is registered, implements the surface and may serve the model. Others
   * are passed over.
   */
  readonly serves: boolean;
  /**
   * The upstream model of a route of a group of models, as it is written there; absent where the
   * route names none, and for targets outside groups.
   */
  readonly model?: string;
}

/**
 * What a strategy may look at. It is read at most once per request by most strategies, so it holds
 * functions for what costs time to find out.
 */
export interface RouteQuery {
  /**
   * True while models are listed: asked with the model alone, as if the request had no messages.
   * Return every target that could get the model: what is left out is not listed for it. Where the
   * strategy fails, all are listed.
   */
  readonly isListing: boolean;
  /** The family of routes that the request came in by. */
  readonly surface: Surface;
  /** After aliases. */
  readonly model: string;
  /**
   * The upstream model a target would be asked for, by `model_map`. The model as it was asked for,
   * where the target maps none, or there is no such target.
   */
  upstreamModel(virtualKey: string): string;
  /**
   * Texts of the messages with role `user`, text parts joined by newline; empty beside chat and
   * completions. Each call reads the messages anew: keep the list where several rules look at it.
   */
  userTexts(): readonly string[];
  /**
   * Characters of all message content. UTF-16 code units of messages whose content is one text; a
   * message of parts counts 0, and so does everything beside chat. `promptTokens` of an exchange
   * counts more closely, for plugins.
   */
  promptCharacters(): number;
  /**
   * The declared ceiling, if any. `max_completion_tokens` counts before `max_tokens`. It is as the
   * client wrote it, perhaps far beyond what a model can answer.
   */
  readonly maxTokens: number | undefined;
  /** Images asked for; 1 unless said. */
  readonly images: number;
  /** Entries of `X-Gateway-Metadata`, which chat and completions read; empty elsewhere. */
  readonly metadata: Readonly<Record<string, string>>;
  /** The request's `user`, where it names one. */
  readonly user: string | undefined;
  /** The credential of the request; `undefined` without one, and while models are listed. */
  readonly principal: Principal | undefined;
  /** Whether the answer is streamed. */
  readonly streaming: boolean;
  /**
   * Uniform in [0, 1), and the same for all requests of one session: draw with it in the place of
   * `deps.random`. Absent where the request has no session, or the strategy has no
   * `affinity: session`.
   */
  readonly random?: number | undefined;
}

/** What a strategy works with, given to `create` once per applied configuration. */
export interface StrategyDeps {
  /** Structured log; each line names the strategy and, while it ranks, the request's id. */
  readonly log: Log;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Objects of this process that outlive a configuration change. */
  readonly carryover: Carryover;
  /**
   * Recent median of a target's successful calls, of streams to their first chunk, in milliseconds;
   * `undefined` without samples. Decide what a target without samples gets: one that is put last
   * each time may never get any.
   */
  readonly medianMs: (virtualKey: string) => number | undefined;
  /**
   * Catalog price of a model at a target. US dollars per million tokens; `undefined` where the
   * catalog does not know the model there. The model is the upstream's:
   * `query.upstreamModel(virtualKey)`.
   */
  readonly price: (virtualKey: string, model: string) => TokenPrice | undefined;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}
