import type { GatewayError } from '../contract/index.ts';
import { attemptTarget } from './attempt-target.ts';
import type { FailedTry } from './hooks.ts';
import type { LiveExchange } from './live-exchange.ts';
import { nextStep } from './retry.ts';
import type { RunningGeneration } from './running-generation.ts';
import { modelNotFound } from './shown.ts';
import type { StreamSession } from './stream.ts';
import type { Target } from './target.ts';

/** Tries the targets in the order of the route until one answers. The last one's error is the answer if none does. */
export async function walkTargets(exchange: LiveExchange, generation: RunningGeneration): Promise<StreamSession | undefined> {
  const { model, surface, streaming } = exchange;
  const { services, hooks: { route, tryFailed } } = generation;
  const ranked = route.call(generation.models.routeTargets(model, surface, streaming), exchange);
  let last: FailedTry | undefined;
  for (const { virtualKey, serves } of ranked) {
    const target = generation.targets.get(virtualKey);
    if (!serves || !target?.provider) continue;
    if (last) tryFailed.call(last);
    target.retryBudget?.countRequest();
    for (let tries = 1; ; tries += 1) {
      exchange.cancellation.throwIfCancelled();
      try {
        return await attemptTarget(exchange, target, target.provider, generation);
      } catch (cause) {
        last = afterFailure(exchange, target, cause as GatewayError, tries, generation); // attemptTarget throws nothing else
      }
      if (last.next.step !== 'again') break;
      tryFailed.call(last);
      await exchange.cancellation.wait(last.next.waitMs, services.clock);
    }
    if (last.next.step === 'stop') break;
  }
  if (!last) throw modelNotFound(model, services.redactor, exchange.unroutable);
  tryFailed.call({ ...last, next: STOP }); // no target that serves is left, whatever the strategy allows
  throw last.error;
}

const STOP = { step: 'stop' } as const;

/** What follows, and the error that the client gets if nothing that follows succeeds. */
function afterFailure(exchange: LiveExchange, target: Target, error: GatewayError, tries: number, generation: RunningGeneration): FailedTry {
  const { cause: end } = exchange.cancellation;
  // Whoever runs out of time in a queue was never served: that is no slow provider.
  if (end) return { exchange, target, error: end.code === 'gateway_timeout' && error.code === 'provider_saturated' ? error : end, tries, next: STOP };
  const next = nextStep({
    error, tries, policy: target.retry, budget: target.retryBudget, strategy: generation.strategy, leftMs: leftMs(exchange, generation), random: generation.services.random,
  });
  return { exchange, target, error, tries, next };
}

/** Milliseconds of the request's own clock that are left. */
function leftMs(exchange: LiveExchange, { requestTimeoutMs: total }: RunningGeneration): number | undefined {
  return total === undefined ? undefined : total - exchange.elapsedMs();
}
