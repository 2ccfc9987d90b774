import type { GatewayError } from '../contract/index.ts';
import { replyError } from '../upstream/fault.ts';
import type { Attempt } from './attempts/attempt.ts';
import {
  admit,
  beginAttempt,
  boundAttempt,
  FIRST,
  measureCall,
  outcomeOf,
  settle,
} from './attempts/attempt-lifecycle.ts';
import { Visit } from './credentials/visit.ts';
import { armDeadline } from './deadline.ts';
import { asGatewayError } from './gateway-fault.ts';
import type { LiveExchange } from './live-exchange.ts';
import { refuseUnreadable } from './guards/refuse-unreadable.ts';
import { afterAnswer, beforePlugins, failReply } from './run.ts';
import type { RunningGeneration } from './running-generation.ts';
import { countingRequest } from './attempts/same-wire.ts';
import { sendUnary } from './attempts/send-attempt.ts';
import type { Target } from './target.ts';
import { type CallableTarget, firstServing, rankedLists } from './turns/ranked-routes.ts';
import { LiveCall } from './attempts/live-call.ts';
import { outgoingRequest } from './attempts/outgoing-request.ts';

/** What a vendor counted, in the client's own wire. */
export interface VendorCount {
  readonly body: Buffer;
}

/** Longest time for a count. */
const HEADERS_TIMEOUT_MS = 30_000;

/**
 * Has a request counted by the target that it would reach first, where that speaks the client's wire. `undefined` where it cannot,
 * or the vendor did not. Guardrails see the request; nothing is charged. See docs/reference/ingress.md#counting-tokens.
 */
export async function countTokens(
  exchange: LiveExchange,
  generation: RunningGeneration,
): Promise<VendorCount | undefined> {
  const {
    hooks,
    plugins,
    services: { clock },
  } = generation;
  const disarm = armDeadline(exchange.cancellation, generation.requestTimeoutMs, 'the request did not finish', clock);
  exchange.isCounting = true;
  try {
    hooks.prepare.call(exchange);
    refuseUnreadable(exchange, plugins);
    exchange.stage = 'before_request';
    const waiting = beforePlugins(exchange, hooks);
    if (waiting) await exchange.cancellation.race(waiting);
    exchange.cancellation.throwIfCancelled();
    const count = await vendorCount(exchange, generation);
    exchange.measured.costUsd = 0;
    const finishing = afterAnswer(exchange, generation);
    if (finishing) await exchange.cancellation.race(finishing);
    return count;
  } catch (cause) {
    throw await failReply(exchange, asGatewayError(cause), generation);
  } finally {
    disarm?.();
  }
}

async function vendorCount(exchange: LiveExchange, generation: RunningGeneration): Promise<VendorCount | undefined> {
  const found = firstTarget(exchange, generation);
  const { sent } = exchange;
  const entrance = sent && found?.provider.module.sameWire?.[sent.wire];
  if (sent?.refusal && !entrance) throw sent.refusal; // the request itself would be refused too
  if (!found || !sent?.isCurrent || !entrance?.countTokens) return undefined;
  return ask(exchange, found.target, found.provider, generation);
}

/** Where the request itself would go first. */
function firstTarget(exchange: LiveExchange, generation: RunningGeneration): CallableTarget | undefined {
  for (const ranked of rankedLists(exchange, generation, false)) {
    const found = firstServing(ranked, exchange, generation);
    if (found) return found;
  }
  return undefined;
}

/** A count that fails is not the client's concern, unless the vendor says that the request is wrong. */
async function ask(
  exchange: LiveExchange,
  target: Target,
  provider: NonNullable<Target['provider']>,
  generation: RunningGeneration,
): Promise<VendorCount | undefined> {
  const { services, hooks } = generation;
  const visit = target.instance && new Visit({ tells: 'count' });
  const attempt = beginAttempt(exchange, exchange.beginTurn(undefined), target, provider, visit && { ...FIRST, visit });
  const disarm = boundAttempt(attempt, generation);
  try {
    const wire = countingRequest(attempt, new LiveCall(attempt, services));
    if (!wire) {
      settle(attempt, undefined, 'ignored', generation);
      return undefined;
    }
    const admission = admit(attempt, generation);
    if (admission) await admission;
    attempt.calledAt = services.clock.monotonic();
    const reply = await sendUnary(attempt, outgoingRequest(attempt, wire, hooks), HEADERS_TIMEOUT_MS, services);
    measureCall(attempt, generation);
    const error =
      reply.status === 200 ? undefined : replyError(provider.module, reply, services.clock.now(), provider.ref.file);
    settle(attempt, error, outcomeOf(error), generation);
    if (error?.status === 400) throw error;
    return error ? undefined : { body: reply.body };
  } catch (cause) {
    return notCounted(attempt, asGatewayError(cause), generation);
  } finally {
    disarm?.();
  }
}

function notCounted(attempt: Attempt, error: GatewayError, generation: RunningGeneration): undefined {
  measureCall(attempt, generation);
  settle(attempt, error, outcomeOf(error), generation);
  attempt.exchange.cancellation.throwIfCancelled();
  if (error.fault && error.status === 400) throw error;
  return undefined;
}
