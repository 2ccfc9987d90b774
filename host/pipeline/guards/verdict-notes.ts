import {
  countOf,
  GatewayError,
  isText,
  type PluginModule,
  type Rejection,
  type Stage,
  type StreamGuard,
} from '../../contract/index.ts';
import type { LiveExchange } from '../live-exchange.ts';
import type { ChunkRefusal, PluginVerdict, StageRun } from '../hooks.ts';
import type { GuardDeps, GuardedStage } from './guarded-stage.ts';
import type { PluginInstance } from './plugin-instance.ts';
import { isObserving } from './plugin-policy.ts';

/** What a verdict without consequence is called. */
export const actionOf = (instance: PluginInstance): 'observed' | 'recorded' =>
  isObserving(instance) ? 'observed' : 'recorded';

/** What is noted of a verdict. */
type Noted = Pick<Rejection, 'reason' | 'score'>;

/** Reports a verdict that ends nothing; those of a stream's guard and of its `after_request` are one. */
export function noteVerdict(
  { instance, stage, deps }: GuardedStage,
  { reason, score }: Noted,
  exchange: LiveExchange,
  action: PluginVerdict['action'] = actionOf(instance),
): void {
  if (stage === 'after_request') {
    if (exchange.plugins.noted?.has(instance)) return;
    (exchange.plugins.noted ??= new Set()).add(instance);
  }
  deps.hooks.verdict.call({
    module: instance.module,
    stage,
    exchange,
    action,
    reason: isText(reason) ? reason : 'rejected',
    score,
  });
}

/** Reports what a stream's guard put out of sight, or would have. */
export function noteMasked(at: GuardedStage, { masked }: StreamGuard, exchange: LiveExchange): void {
  if (masked !== undefined)
    noteVerdict(at, { reason: masked }, exchange, isObserving(at.instance) ? 'observed' : 'masked');
}

/** The error a rejection becomes, by stage and plugin type (docs/reference/data-plane.md#rejections). */
export function rejectionError(
  module: PluginModule,
  stage: Stage,
  rejection: Rejection,
  exchange: LiveExchange,
  { hooks }: Pick<GuardDeps, 'hooks'>,
): GatewayError {
  hooks.verdict.call({
    module,
    stage,
    exchange,
    action: 'rejected',
    reason: reasonOf(rejection),
    score: rejection.score,
  });
  exchange.plugins.rejectedBy = module.name;
  const reason = reasonOf(rejection);
  if (stage === 'after_request')
    return new GatewayError('response_rejected', `response rejected by ${module.name} (after_request): ${reason}`);
  const code = module.rejectsAs ?? (module.type === 'ratelimit' ? 'rate_limit_exceeded' : 'request_rejected');
  return new GatewayError(code, `request rejected by ${module.name} (before_request): ${reason}`, {
    retryAfterMs:
      code === 'rate_limit_exceeded' && countOf(rejection.retryAfterMs) > 0 ? rejection.retryAfterMs : undefined,
  });
}

/** The error that a guard's rejection becomes when it ends a stream midway. */
export function guardRejection(
  { module, rejection }: ChunkRefusal,
  exchange: LiveExchange,
  deps: GuardDeps,
): GatewayError {
  reportGuard(module, exchange, { outcome: 'rejected', reason: reasonOf(rejection), error: undefined }, deps);
  return rejectionError(module, 'after_request', rejection, exchange, deps);
}

/** Reports the end of a stream by a guard as a run of its plugin's handler, which itself never comes then. */
export function reportGuard(
  module: PluginModule,
  exchange: LiveExchange,
  end: Pick<StageRun, 'outcome' | 'reason' | 'error'>,
  { hooks, clock }: GuardDeps,
): void {
  const at = clock.monotonic();
  hooks.stageRan.call({ module, stage: 'after_request', exchange, startedAt: at, endedAt: at, ...end });
}

/** A rejection stays one, whatever its plugin gives for a reason. */
export const reasonOf = ({ reason }: Rejection): string => (isText(reason) ? reason : 'rejected');
