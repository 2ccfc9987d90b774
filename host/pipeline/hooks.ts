import { AsyncSeriesBailHook, AsyncSeriesHook, SyncBailHook, SyncHook, SyncWaterfallHook } from 'tapable';
import {
  type ChatChunk,
  type ExchangeOutcome,
  type GatewayError,
  type OutgoingRequest,
  type PluginModule,
  type Rejection,
  type RouteTarget,
  type Stage,
  type Surface,
  SURFACE_NAMES,
} from '../contract/index.ts';
import type { ModuleFault } from '../boundary/module-fault.ts';
import { sealHook } from '../hooks/seal.ts';
import type { Credential, ProviderInstance } from '../upstream/instance.ts';
import type { Attempt, Outcome } from './attempts/attempt.ts';
import type { CredentialDesk } from './credentials/credential-desk.ts';
import type { ExplainedRequest, ExplainedRoute } from './explained.ts';
import type { LiveExchange } from './live-exchange.ts';
import type { NextStep } from './attempts/retry.ts';
import type { Target } from './target.ts';
import type { ToolCallRun, ToolServers } from './tool-servers.ts';
import type { RunTurn } from './turns/turns.ts';

/** Names on the wire. */
export type CircuitState = 'closed' | 'open' | 'half-open';

type PerSurface<H> = Readonly<Record<Surface, H>>;

/** Calls of a target, now: those that were admitted and have not ended, and those that wait to be. */
export interface TargetLoad {
  readonly held: number;
  readonly waiting: number;
}

/** What flows through the stream guards: chunks that may go on, or the refusal that ends the stream. */
export type ChunkStep = readonly ChatChunk[] | ChunkRefusal;

export interface ChunkRefusal {
  readonly module: PluginModule;
  readonly rejection: Rejection;
}

/** A request that is about to leave. A tap that changes it puts another one in its place. */
export interface Departure {
  readonly attempt: Attempt;
  request: OutgoingRequest;
}

/** What came of a plugin's handler: it may refuse, only note what it would refuse (settings `observe` and `stream`), or fail. */
export type StageOutcome = 'ok' | 'rejected' | 'observed' | 'recorded' | 'error';

/** One run of a plugin's handler. Times are monotonic milliseconds. */
export interface StageRun {
  readonly module: PluginModule;
  readonly stage: Stage;
  readonly exchange: LiveExchange;
  readonly startedAt: number;
  endedAt: number;
  outcome: StageOutcome;
  /** What the plugin said with a rejection. */
  reason: string | undefined;
  /** What it threw, also where the request goes on. */
  error: unknown;
}

/** A plugin rejected a request or an answer, streams included, or masked something in it; `observed` and `recorded` had no consequence. */
export interface PluginVerdict {
  readonly module: PluginModule;
  readonly stage: Stage;
  readonly exchange: LiveExchange;
  readonly action: 'rejected' | 'masked' | 'observed' | 'recorded';
  readonly reason: string;
  /** How sure the plugin is, where it says so. */
  readonly score: number | undefined;
}

/** Code of a plugin failed: at a stage, as it made a stream's guard, in that guard, or in `finished`. */
export interface PluginFailure {
  readonly module: PluginModule;
  readonly at: Stage | 'guard' | 'stream' | 'finished';
  readonly exchange: LiveExchange;
  readonly fault: ModuleFault;
  /** The request goes on: the plugin's type fails open, or nothing follows. */
  readonly isOpen: boolean;
}

/** A try at a target failed, and this follows: the same target again, the next one that serves, or nothing. */
export interface FailedTry {
  readonly exchange: LiveExchange;
  readonly target: Target;
  readonly error: GatewayError;
  /** Number of the try at this target, from 1. */
  readonly tries: number;
  readonly next: NextStep;
  /** Set where the target's credentials failed, as far as they were tried: another target may do better. */
  readonly isOfCredentials?: boolean;
}

/** What was corrected in a request; a label of a figure. */
export type CorrectionKind =
  | 'to_responses'
  | 'no_summary'
  | 'no_sealed'
  | 'effort'
  | 'no_include'
  | 'no_thoughts'
  | 'late_system';

/** A request that its provider refused went out once more without what the model does not take. */
export interface CorrectedTry {
  readonly exchange: LiveExchange;
  readonly target: Target;
  readonly kind: CorrectionKind;
  /** What came of the second one. */
  readonly result: 'ok' | 'failed';
}

/** The circuit breaker of a target changed its state. */
export interface CircuitMove {
  readonly from: CircuitState;
  readonly to: CircuitState;
  /** The attempt that moved it; of a circuit that its time turned half-open, the first that met it so. */
  readonly attempt: Attempt;
}

/** Hooks of one applied configuration. Plugins and builtins tap them while it is assembled; then they are sealed. */
export function createGenerationHooks() {
  return {
    /** An exchange begins. Nothing may be refused here; what is wrong is answered in `charge`. */
    opened: new SyncHook<[LiveExchange]>(['exchange']),
    /** Before any plugin: aliases, token ceilings, admission. A tap refuses by throwing a `GatewayError`. */
    prepare: new SyncHook<[LiveExchange]>(['exchange']),
    /**
     * What a request may cost is put aside before any plugin runs, also of what is forwarded: the first error ends it. It
     * comes again before each further turn of an answer that calls for tools.
     */
    charge: new AsyncSeriesBailHook<[LiveExchange], GatewayError | undefined>(['exchange']),
    /** `before_request`: the first error ends it. */
    beforeRequest: perSurface(
      (surface) =>
        new AsyncSeriesBailHook<[LiveExchange], GatewayError | undefined>(['exchange'], `beforeRequest ${surface}`),
    ),
    /** Plugins before each further turn of an exchange, on the request as it has grown: guardrails, rate limits and `auth` only. */
    beforeTurn: perSurface(
      (surface) =>
        new AsyncSeriesBailHook<[LiveExchange], GatewayError | undefined>(['exchange'], `beforeTurn ${surface}`),
    ),
    /**
     * Wraps what runs the turns of an exchange, between `beforeRequest` and `afterRequest`: a tap gets the function that runs
     * one turn and gives another in its place. Called once, when the configuration is built.
     */
    turns: new SyncWaterfallHook<[RunTurn]>(['runTurn']),
    /** Targets in, targets out. */
    route: new SyncWaterfallHook<[readonly RouteTarget[], LiveExchange]>(['targets', 'exchange']),
    /** What an explanation says of one target that would be tried; called while a route is only explained. */
    explainTarget: new SyncHook<[ExplainedRoute, Target, LiveExchange]>(['members', 'target', 'exchange']),
    /** What an explanation says of the whole request; called while a route is only explained. */
    explainRequest: new SyncHook<[ExplainedRequest, LiveExchange]>(['members', 'exchange']),
    /** What would refuse a request where it is charged, and what an explanation says of that. Nothing is held; called while a route is only explained. */
    explainCharge: new SyncBailHook<[ExplainedRequest, LiveExchange], GatewayError | undefined>([
      'members',
      'exchange',
    ]),
    /** What a target's circuit breaker says, admitting nothing; without one, nothing. */
    circuit: new SyncBailHook<[string], CircuitState | undefined>(['virtualKey']),
    /** Calls of a target in flight and waiting. */
    load: new SyncBailHook<[string], TargetLoad | undefined>(['virtualKey']),
    /** Recent median of successful calls, in milliseconds: of a target outside groups, or of its upstream model in groups; without samples, nothing. */
    median: new SyncBailHook<[string, string?], number | undefined>(['virtualKey', 'upstreamModel']),
    /** Local refusal of one attempt: breaker, limiter. */
    admit: new AsyncSeriesBailHook<[Attempt], GatewayError | undefined>(['attempt']),
    /** Last change to the request that leaves: trace context, then the credential. */
    outgoing: new AsyncSeriesHook<[Departure]>(['departure']),
    /** The credentials of an instance that may be called for an upstream model, in the order of the request's session; without a session, nothing. */
    credentialOrder: new SyncBailHook<[LiveExchange, ProviderInstance, string], readonly Credential[] | undefined>([
      'exchange',
      'instance',
      'upstreamModel',
    ]),
    /** An attempt with a credential is over: what that says of the credential, before `settled`. The outcome for everything else, where it is another one. */
    credentialUsed: new SyncBailHook<[Attempt, Outcome], Outcome | undefined>(['attempt', 'outcome']),
    /** The credentials of declared instances; nothing where none are declared. */
    credentials: new SyncBailHook<[], CredentialDesk | undefined>([]),
    /** An attempt is over, refused ones included; `attempt.outcome` is set. Taps must not hold the request up here. */
    settled: new SyncHook<[Attempt]>(['attempt']),
    /** One chunk of a stream that some plugin guards. */
    chunk: new SyncWaterfallHook<[ChunkStep, LiveExchange, 'push' | 'end']>(['step', 'exchange', 'moment']),
    /** `after_request`: the first error withholds the answer. */
    afterRequest: perSurface(
      (surface) =>
        new AsyncSeriesBailHook<[LiveExchange], GatewayError | undefined>(['exchange'], `afterRequest ${surface}`),
    ),
    /** `on_error`: every handler runs. */
    onError: perSurface((surface) => new AsyncSeriesHook<[LiveExchange]>(['exchange'], `onError ${surface}`)),
    /** A plugin's handler has run. Nothing is measured while this has no taps. */
    stageRan: new SyncHook<[StageRun]>(['run']),
    /** A plugin rejected or masked something. */
    verdict: new SyncHook<[PluginVerdict]>(['verdict']),
    /** Code of a plugin failed. */
    pluginFailed: new SyncHook<[PluginFailure]>(['failure']),
    /** A try at a target failed; called as that follows which `next` says. */
    tryFailed: new SyncHook<[FailedTry]>(['failed']),
    /** A refused request was corrected and sent once more, and that one has ended. */
    corrected: new SyncHook<[CorrectedTry]>(['corrected']),
    /** The tool servers of this configuration; nothing where none are configured. */
    toolServers: new SyncBailHook<[], ToolServers | undefined>([]),
    /** A call of a tool is over, of a loop or of a client's own. */
    toolCalled: new SyncHook<[ToolCallRun]>(['run']),
    /** A circuit breaker moved. */
    circuitMoved: new SyncHook<[CircuitMove]>(['move']),
    /** The exchange is over; runs exactly once. */
    finished: new SyncHook<[LiveExchange, ExchangeOutcome]>(['exchange', 'outcome']),
  };
}

export type GenerationHooks = ReturnType<typeof createGenerationHooks>;

function perSurface<H>(create: (surface: Surface) => H): PerSurface<H> {
  const hooks = Object.fromEntries(SURFACE_NAMES.map((surface) => [surface, create(surface)]));
  return hooks as Record<Surface, H>;
}

/** True when something taps the hook; `isUsed` would count the seal too. */
export function isTapped(hook: { readonly taps: readonly unknown[] }): boolean {
  return hook.taps.length > 0;
}

export function sealGenerationHooks(hooks: GenerationHooks): void {
  const why = 'taps belong in assemble';
  for (const [name, hook] of Object.entries(hooks)) {
    if ('intercept' in hook) sealHook(hook, name, why);
    else for (const [surface, member] of Object.entries(hook)) sealHook(member as never, `${name} ${surface}`, why);
  }
}
