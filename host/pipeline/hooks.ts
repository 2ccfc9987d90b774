import { AsyncSeriesBailHook, AsyncSeriesHook, SyncBailHook, SyncHook, SyncWaterfallHook } from 'tapable';
import { type ChatChunk, type ExchangeOutcome, type GatewayError, type OutgoingRequest, type PluginModule, type Rejection, type RouteTarget, type Surface, SURFACE_NAMES } from '../contract/index.ts';
import { sealHook } from '../hooks/seal.ts';
import type { Attempt } from './attempt.ts';
import type { LiveExchange } from './live-exchange.ts';

/** Names on the wire. */
export type CircuitState = 'closed' | 'open' | 'half-open';

type PerSurface<H> = Readonly<Record<Surface, H>>;

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

/** Hooks of one applied configuration. Plugins and builtins tap them while it is assembled; then they are sealed. */
export function createGenerationHooks() {
  return {
    /** Before any plugin: aliases, token ceilings, admission. A tap refuses by throwing a `GatewayError`. */
    prepare: new SyncHook<[LiveExchange]>(['exchange']),
    /** `before_request`: the first error ends it. */
    beforeRequest: perSurface((surface) => new AsyncSeriesBailHook<[LiveExchange], GatewayError | undefined>(['exchange'], `beforeRequest ${surface}`)),
    /** Targets in, targets out. */
    route: new SyncWaterfallHook<[readonly RouteTarget[], LiveExchange]>(['targets', 'exchange']),
    /** What a target's circuit breaker says, admitting nothing; without one, nothing. */
    circuit: new SyncBailHook<[string], CircuitState | undefined>(['virtualKey']),
    /** Recent median of a target's successful calls, in milliseconds; without samples, nothing. */
    median: new SyncBailHook<[string], number | undefined>(['virtualKey']),
    /** Local refusal of one attempt: breaker, limiter. */
    admit: new AsyncSeriesBailHook<[Attempt], GatewayError | undefined>(['attempt']),
    /** Last change to the request that leaves: trace context, then the credential. */
    outgoing: new AsyncSeriesHook<[Departure]>(['departure']),
    /** An attempt is over, refused ones included; `attempt.outcome` is set. Nobody may hold the request up here. */
    settled: new SyncHook<[Attempt]>(['attempt']),
    /** One chunk of a stream that some plugin guards. */
    chunk: new SyncWaterfallHook<[ChunkStep, LiveExchange, 'push' | 'end']>(['step', 'exchange', 'moment']),
    /** `after_request`: the first error withholds the answer. */
    afterRequest: perSurface((surface) => new AsyncSeriesBailHook<[LiveExchange], GatewayError | undefined>(['exchange'], `afterRequest ${surface}`)),
    /** `on_error`: everybody is told. */
    onError: perSurface((surface) => new AsyncSeriesHook<[LiveExchange]>(['exchange'], `onError ${surface}`)),
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
