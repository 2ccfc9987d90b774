import type { GatewayError, RouteTarget } from '../../contract/index.ts';
import { finalError } from '../credentials/credential-trail.ts';
import { visitOf, visitTarget } from '../credentials/visit-target.ts';
import { completeTurn } from './complete-turn.ts';
import type { FailedTry } from '../hooks.ts';
import type { LiveExchange } from '../live-exchange.ts';
import { ADVANCE, nextStep, STOP } from '../attempts/retry.ts';
import { Fallbacks } from './fallbacks.ts';
import { rankedRoutes, routedTarget } from './ranked-routes.ts';
import type { RunningGeneration } from '../running-generation.ts';
import { modelNotFound } from '../shown.ts';
import { whyUnstreamed } from '../unstreamed.ts';
import type { Visit } from '../credentials/visit.ts';
import type { TurnRequest } from './turn.ts';
import type { Answer } from './turns.ts';

/**
 * One turn: tries the targets in the order of the route until one answers, and in a group of models what its fallbacks name
 * behind them. The last one's error is the answer if none does. What comes of it is complete: in shape, and added to the sums of
 * the exchange.
 */
export async function walkTargets(
  exchange: LiveExchange,
  generation: RunningGeneration,
  ask: TurnRequest | undefined,
): Promise<Answer> {
  const turn = exchange.beginTurn(ask);
  const {
    services,
    hooks: { tryFailed },
  } = generation;
  let ranked: readonly RouteTarget[] | undefined = rankedRoutes(exchange, generation, turn.streaming);
  const fallbacks = exchange.routing.group && new Fallbacks(exchange, generation, turn.streaming);
  let last: FailedTry | undefined;
  for (; ranked; ranked = fallbacks?.next(last)) {
    for (const { virtualKey, serves } of ranked) {
      const target = serves ? routedTarget(virtualKey, exchange, generation) : undefined;
      if (!target?.provider || fallbacks?.takes(target) === false) continue;
      if (last) tryFailed.call(last.next.step === 'stop' ? { ...last, next: ADVANCE } : last);
      target.retryBudget?.countRequest();
      const visit = visitOf(target);
      for (let tries = 1; ; tries += 1) {
        exchange.cancellation.throwIfCancelled();
        let answer: Answer;
        try {
          answer = await visitTarget({ exchange, turn, target, provider: target.provider, visit, tries }, generation);
        } catch (cause) {
          last = afterFailure({ exchange, target, error: cause as GatewayError, tries }, visit, generation); // attempts throw nothing else
          if (last.next.step !== 'again') break;
          tryFailed.call(last);
          await exchange.cancellation.wait(last.next.waitMs, services.clock);
          continue;
        }
        return completeTurn(exchange, answer, services);
      }
      if (last.next.step === 'stop') break;
    }
  }
  if (!last) throw nothingServes(exchange, generation);
  tryFailed.call({ ...last, next: STOP }); // no target that serves is left, whatever the strategy allows
  throw finalError(last.error, exchange.routing.credentials);
}

/** The refusal of a request that no target was asked for. */
function nothingServes(exchange: LiveExchange, generation: RunningGeneration): GatewayError {
  const { model, routing } = exchange;
  if (routing.refusal) return routing.refusal();
  return modelNotFound(model, generation.services.redactor, routing.unroutable ?? whyUnstreamed(exchange, generation));
}

/** What follows, and the error that the client gets if nothing that follows succeeds. */
function afterFailure(
  { exchange, target, error, tries }: Omit<FailedTry, 'next'>,
  visit: Visit | undefined,
  generation: RunningGeneration,
): FailedTry {
  const { cause: end } = exchange.cancellation;
  // A request whose time ran out in a queue was never sent: the provider was not slow.
  if (end)
    return {
      exchange,
      target,
      error: end.code === 'gateway_timeout' && error.code === 'provider_saturated' ? error : end,
      tries,
      next: STOP,
    };
  const isOfCredentials = visit?.class !== undefined && visit.class !== 'no_access';
  const next = nextStep({
    error,
    tries,
    policy: target.retry,
    budget: target.retryBudget,
    strategy: exchange.routing.group?.strategy ?? generation.strategy,
    isOfCredentials,
    leftMs: leftMs(exchange, generation),
    random: generation.services.random,
  });
  return { exchange, target, error, tries, next, ...(isOfCredentials && { isOfCredentials }) };
}

/** Milliseconds of the request's own clock that are left. */
function leftMs(exchange: LiveExchange, { requestTimeoutMs: total }: RunningGeneration): number | undefined {
  return total === undefined ? undefined : total - exchange.elapsedMs();
}
