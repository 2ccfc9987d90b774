import type { GatewayError } from '../contract/index.ts';
import { attemptTarget } from './attempt-target.ts';
import { errorType } from './error-type.ts';
import type { LiveExchange } from './live-exchange.ts';
import { MAX_WAIT_MS, type NextStep, nextStep } from './retry.ts';
import type { PipelineServices } from './pipeline-services.ts';
import type { RunningGeneration } from './running-generation.ts';
import { modelNotFound } from './shown.ts';
import type { StreamSession } from './stream.ts';
import type { Target } from './target.ts';

/** Tries the targets in the order of the route until one answers. The last one's error is the answer if none does. */
export async function walkTargets(exchange: LiveExchange, generation: RunningGeneration): Promise<StreamSession | undefined> {
  const { model, surface, streaming } = exchange;
  const { services } = generation;
  const ranked = generation.hooks.route.call(generation.models.routeTargets(model, surface, streaming), exchange);
  let failed: { readonly error: GatewayError; readonly target: Target } | undefined;
  for (const { virtualKey, serves } of ranked) {
    const target = generation.targets.get(virtualKey);
    if (!serves || !target?.provider) continue;
    if (failed) countMasked(failed, services);
    target.retryBudget?.countRequest();
    let next: AfterFailure | undefined;
    for (let tries = 1; !next || next.step === 'again'; tries += 1) {
      if (next) await waitForRetry(exchange, target, next.waitMs, services);
      exchange.cancellation.throwIfCancelled();
      try {
        return await attemptTarget(exchange, target, target.provider, generation);
      } catch (cause) {
        next = afterFailure(exchange, target, cause as GatewayError, tries, generation); // attemptTarget throws nothing else
      }
    }
    failed = { error: next.error, target };
    if (next.step === 'stop') break;
  }
  throw failed?.error ?? modelNotFound(model, services.redactor, exchange.unroutable);
}

/** What follows, and the error that is told if nothing better does. */
type AfterFailure = NextStep & { readonly error: GatewayError };

function afterFailure(exchange: LiveExchange, target: Target, error: GatewayError, tries: number, generation: RunningGeneration): AfterFailure {
  const { services } = generation;
  const { cause: end } = exchange.cancellation;
  // Whoever runs out of time in a queue was never served: that is no slow provider.
  if (end) return { step: 'stop', error: end.code === 'gateway_timeout' && error.code === 'provider_saturated' ? error : end };
  const next = nextStep({
    error, tries, policy: target.retry, budget: target.retryBudget, strategy: generation.strategy, leftMs: leftMs(exchange, generation), random: services.random,
  });
  if (next.step !== 'again') reportAbandoned(exchange, target, error, tries, services);
  return { ...next, error };
}

async function waitForRetry(exchange: LiveExchange, target: Target, waitMs: number, { log, clock }: PipelineServices): Promise<void> {
  log.info('retrying target', { target: target.virtualKey, attempt: exchange.attempts + 1, trace_id: exchange.id });
  await exchange.cancellation.wait(waitMs, clock);
}

/** Milliseconds of the request's own clock that are left. */
function leftMs(exchange: LiveExchange, { requestTimeoutMs: total }: RunningGeneration): number | undefined {
  return total === undefined ? undefined : total - exchange.elapsedMs();
}

function reportAbandoned(exchange: LiveExchange, target: Target, error: GatewayError, tries: number, { log }: PipelineServices): void {
  if (tries >= target.retry.attempts || (error.retryAfterMs ?? 0) <= MAX_WAIT_MS) return;
  log.info('abandoning target: Retry-After exceeds the cap', {
    target: target.virtualKey, retry_after: Math.ceil((error.retryAfterMs ?? 0) / 1000), trace_id: exchange.id,
  });
}

/** A failure that a later target hides still counts against its own; the last one is counted where the exchange ends. */
function countMasked({ error, target }: { readonly error: GatewayError; readonly target: Target }, { counters }: PipelineServices): void {
  counters.add('gateway_provider_errors_total', { provider: target.virtualKey, error_type: errorType(error) });
}
