import { type GatewayError, type Stage, SURFACES } from '../../contract/index.ts';
import { DETACHED_LIMIT_MS, HANDLER_LIMIT_MS } from '../../boundary/module-limits.ts';
import { ModuleFault } from '../../boundary/module-fault.ts';
import { inTime, isThenable } from '../../boundary/thenable.ts';
import type { LiveExchange } from '../live-exchange.ts';
import type { Eventual } from '../eventual.ts';
import { pluginError } from '../gateway-fault.ts';
import { isTapped, type StageRun } from '../hooks.ts';
import type { GuardDeps, GuardedStage } from './guarded-stage.ts';
import type { PluginInstance } from './plugin-instance.ts';
import { passesFaults, runsForCounts } from './plugin-policy.ts';
import { applyVerdict } from './verdict-effects.ts';

export type GuardedHandler = (exchange: LiveExchange) => Eventual<GatewayError | undefined>;

/** A guarded handler, which also fills in how its run went where that is reported. */
type Guarded = (exchange: LiveExchange, run: StageRun | undefined) => Eventual<GatewayError | undefined>;

/**
 * Wraps one handler with the policy of its plugin's type, so that no plugin holds any: verdicts become errors, faults
 * fail open or closed, `observe` and `record` turn rejections into notes. An error ends the stage.
 */
export function guardHandler(instance: PluginInstance, stage: Stage, deps: GuardDeps): GuardedHandler | undefined {
  const handler = instance.handlers[stage]?.bind(instance.handlers);
  if (!handler) return undefined;
  const at: GuardedStage = { instance, stage, deps };
  const guarded: Guarded = (exchange, run) => {
    exchange.stage = stage;
    try {
      const decided: unknown = instance.boundary.call(handler, exchange, undefined);
      if (decided === undefined) return undefined;
      return isThenable(decided) ? applyLater(at, decided, exchange, run) : applyVerdict(at, decided, exchange, run);
    } catch (cause) {
      return applyFault(at, cause, exchange, run);
    }
  };
  const counts = runsForCounts(instance, stage);
  return (exchange) => {
    if (exchange.isCounting && !counts) return undefined;
    return isTapped(deps.hooks.stageRan) ? measured(at, guarded, exchange) : guarded(exchange, undefined);
  };
}

/** A verdict that comes later, in its time. What runs apart from the client has less of it: no client that leaves ends it. */
function applyLater(
  at: GuardedStage,
  decided: PromiseLike<unknown>,
  exchange: LiveExchange,
  run: StageRun | undefined,
): Promise<GatewayError | undefined> {
  const { stage, deps } = at;
  const isApart = isDetached(stage, exchange);
  const limitMs = isApart ? DETACHED_LIMIT_MS : HANDLER_LIMIT_MS;
  return inTime(decided, limitMs, deps.clock, stage, isApart ? undefined : exchange.cancellation)
    .then((late) => applyVerdict(at, late, exchange, run))
    .catch((cause: unknown) => applyFault(at, cause, exchange, run));
}

/** Streams have been sent by then, and so have answers that are forwarded. */
function isDetached(stage: Stage, { streaming, surface, delivery }: LiveExchange): boolean {
  const isSent = (streaming && !delivery.isWhole) || SURFACES[surface].isForwarded === true;
  return stage === 'on_error' || (stage === 'after_request' && isSent);
}

/** What follows from what a handler threw. At `on_error` everything fails open. */
function applyFault(
  { instance, stage, deps }: GuardedStage,
  thrown: unknown,
  exchange: LiveExchange,
  run: StageRun | undefined,
): GatewayError | undefined {
  const fault = new ModuleFault(instance.boundary.module, stage, thrown);
  if (run) Object.assign(run, { outcome: 'error', error: fault.cause });
  const isOpen = passesFaults(instance) || stage === 'on_error';
  deps.hooks.pluginFailed.call({ module: instance.module, at: stage, exchange, fault, isOpen });
  return isOpen ? undefined : pluginError(fault);
}

/** Runs a handler, and reports the run when it is over. */
function measured(
  { instance: { module }, stage, deps: { hooks, clock } }: GuardedStage,
  guarded: Guarded,
  exchange: LiveExchange,
): Eventual<GatewayError | undefined> {
  const startedAt = clock.monotonic();
  const run: StageRun = {
    module,
    stage,
    exchange,
    startedAt,
    endedAt: startedAt,
    outcome: 'ok',
    reason: undefined,
    error: undefined,
  };
  const end = (error: GatewayError | undefined): GatewayError | undefined => {
    run.endedAt = clock.monotonic();
    hooks.stageRan.call(run);
    return error;
  };
  const result = guarded(exchange, run);
  return result instanceof Promise ? result.then(end) : end(result);
}
