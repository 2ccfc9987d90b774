import { AsyncSeriesBailHook, AsyncSeriesHook, AsyncSeriesWaterfallHook, SyncBailHook, SyncHook, SyncWaterfallHook } from 'tapable';
import { type ChatChunk, type ExchangeOutcome, type GatewayError, type OutgoingRequest, type PluginModule, type Rejection, type RouteTarget, type Surface, SURFACE_NAMES } from '../contract/index.ts';
import { sealHook } from '../hooks.ts';
import type { Attempt } from './attempt.ts';
import type { LiveExchange } from './exchange.ts';

/** Names on the wire. */
export type CircuitState = 'closed' | 'open' | 'half-open';

type PerSurface<H> = Readonly<Record<Surface, H>>;

/** What flows through the stream guards: chunks that may go on, or the refusal that ends the stream. */
export type ChunkStep = readonly ChatChunk[] | ChunkRefusal;

export interface ChunkRefusal {
  readonly module: PluginModule;
  readonly rejection: Rejection;
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
    outgoing: new AsyncSeriesWaterfallHook<[OutgoingRequest, Attempt]>(['request', 'attempt']),
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

/** A result that may be there at once: only those that must wait cost a promise. */
export type Eventual<T> = T | Promise<T>;

/** What both tapable's series hooks have, for one argument. */
interface WaitingHook<T, R> {
  tapAsync(options: TapOptions, run: (value: T, done: (error: Error | null, result?: R) => void) => void): void;
  callAsync(value: T, done: (error: unknown, result?: R) => void): void;
}

type TapOptions = string | { readonly name: string; readonly stage?: number };

/** Taps an asynchronous hook with a function that seldom waits. What it rejects with, or throws, ends the hook. */
export function tapEventual<T, R>(hook: WaitingHook<T, R>, options: TapOptions, run: (value: T) => Eventual<R>): void {
  hook.tapAsync(options, (value, goOn) => {
    let result: Eventual<R>;
    try {
      result = run(value);
    } catch (error) {
      goOn(error as Error);
      return;
    }
    if (result instanceof Promise) result.then((late) => goOn(null, late), goOn);
    else goOn(null, result);
  });
}

/** Calls an asynchronous hook. The result is a promise only when some tap had to wait. */
export function callEventual<T, R>(hook: WaitingHook<T, R>, value: T): Eventual<R | undefined> {
  let isOver = false;
  let failure: unknown;
  let outcome: R | undefined;
  let late: PromiseWithResolvers<R | undefined> | undefined;
  hook.callAsync(value, (error, result) => {
    isOver = true;
    failure = error;
    outcome = result;
    if (!late) return;
    if (error) late.reject(error);
    else late.resolve(result);
  });
  if (!isOver) {
    late = Promise.withResolvers();
    return late.promise;
  }
  if (failure) throw failure;
  return outcome;
}

/** Throws what a bail hook refused with, now or later. */
export function throwRefusal(refusal: Eventual<GatewayError | undefined>): Promise<void> | undefined {
  if (refusal instanceof Promise) return refusal.then((late) => { if (late) throw late; });
  if (refusal) throw refusal;
  return undefined;
}

export function sealGenerationHooks(hooks: GenerationHooks): void {
  const why = 'taps belong in assemble';
  for (const [name, hook] of Object.entries(hooks)) {
    if ('intercept' in hook) sealHook(hook, name, why);
    else for (const [surface, member] of Object.entries(hook)) sealHook(member as never, `${name} ${surface}`, why);
  }
}
