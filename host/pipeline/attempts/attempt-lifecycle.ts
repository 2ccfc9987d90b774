/** What every attempt is from its number to its end, whether it translates or forwards. */
import { faultAttributes } from '../../boundary/module-fault.ts';
import { ownFault } from '../../boundary/provider-boundary.ts';
import type { GatewayError } from '../../contract/index.ts';
import { Cancellation } from '../../upstream/cancellation.ts';
import type { ConnectedProvider } from '../../upstream/connect.ts';
import { classOf } from '../../upstream/fault-classes.ts';
import { watchBody } from '../../upstream/reply-body.ts';
import type { Attempt, Outcome } from './attempt.ts';
import { armDeadline } from '../deadline.ts';
import { callEventual, throwRefusal } from '../eventual.ts';
import { isTapped } from '../hooks.ts';
import type { LiveExchange } from '../live-exchange.ts';
import type { RunningGeneration } from '../running-generation.ts';
import type { Target } from '../target.ts';
import type { Turn } from '../turns/turn.ts';
import type { Visit } from '../credentials/visit.ts';

/** How a request that was refused is sent once more. */
export interface Repeat {
  readonly leavesThoughts: boolean;
  /** Milliseconds that the try before it has taken of the target's `request_timeout`. */
  readonly spentMs: number;
  /** Set where a credential is chosen for the attempt. */
  readonly visit?: Visit | undefined;
}

export const FIRST: Repeat = Object.freeze({ leavesThoughts: false, spentMs: 0, visit: undefined });

export function beginAttempt(
  exchange: LiveExchange,
  turn: Turn,
  target: Target,
  provider: ConnectedProvider,
  { leavesThoughts, spentMs, visit }: Repeat = FIRST,
): Attempt {
  const { routing } = exchange;
  routing.attempts += 1;
  routing.lastTarget = target;
  routing.upstreamModel = target.upstreamModel(exchange.model);
  routing.reportedModel = undefined;
  routing.upstreamRequestId = undefined;
  routing.answeredTier = undefined;
  routing.isSameWire = false;
  routing.credential = undefined;
  const cancellation = target.requestTimeoutMs === undefined ? exchange.cancellation : new Cancellation();
  return {
    exchange,
    turn,
    target,
    provider,
    credential: undefined,
    visit,
    cancellation,
    spentMs,
    leavesThoughts,
    number: routing.attempts,
    upstreamModel: routing.upstreamModel,
    isSameWire: false,
    via: undefined,
    translated: undefined,
    outcome: undefined,
    error: undefined,
    calledAt: undefined,
    upstreamMs: undefined,
    status: undefined,
    onReply: undefined,
  };
}

/** The target's own `request_timeout`; of a stream it bounds the start only. */
export function boundAttempt(
  { exchange, target, cancellation, spentMs }: Attempt,
  { services: { clock } }: RunningGeneration,
): (() => void) | undefined {
  if (target.requestTimeoutMs === undefined) return undefined;
  exchange.cancellation.onCancel((cause) => cancellation.cancel(cause));
  return armDeadline(cancellation, target.requestTimeoutMs - spentMs, 'the provider did not answer', clock);
}

/** Throws the refusal; a promise only where the attempt must wait for a slot. */
export function admit(attempt: Attempt, { hooks: { admit: hook } }: RunningGeneration): Promise<void> | undefined {
  if (!isTapped(hook)) return undefined;
  return throwRefusal(callEventual(hook, attempt));
}

/** Takes down, once, how long the provider took; for a stream, until its first chunk. */
export function measureCall(attempt: Attempt, { services: { clock } }: RunningGeneration): void {
  if (attempt.calledAt === undefined || attempt.upstreamMs !== undefined) return;
  attempt.upstreamMs = clock.monotonic() - attempt.calledAt;
  attempt.exchange.measured.upstreamMs += attempt.upstreamMs;
}

/** Tells everybody who recorded something on the attempt that it is over, exactly once. */
export function settle(
  attempt: Attempt,
  error: GatewayError | undefined,
  outcome: Outcome,
  { hooks: { settled, credentialUsed }, services: { log } }: RunningGeneration,
): void {
  if (attempt.outcome) return;
  attempt.error = error;
  const { routing } = attempt.exchange;
  if (attempt.status !== undefined) routing.upstreamStatus = attempt.status;
  if (error?.fault?.message !== undefined) routing.upstreamMessage = error.fault.message;
  const fault = ownFault(error);
  if (fault)
    log.warn(
      'provider failed by a fault of its own',
      faultAttributes(fault, { target: attempt.target.virtualKey, trace_id: attempt.exchange.id }),
    );
  attempt.outcome = (attempt.credential && credentialUsed.call(attempt, outcome)) ?? outcome;
  try {
    settled.call(attempt);
  } catch (cause) {
    log.error('a builtin failed to settle an attempt', {
      trace_id: attempt.exchange.id,
      target: attempt.target.virtualKey,
      error: cause,
    });
  }
}

/**
 * Bytes that go on as they arrive: the attempt lasts until the last of them, and so do the deadlines. `onOver` hears why
 * there are no more, a client that left included. They are closed with the exchange at the latest.
 */
export function relayedBody(
  { exchange }: Attempt,
  body: AsyncIterable<Uint8Array>,
  onOver: (error: GatewayError | undefined) => void,
): AsyncIterable<Uint8Array> {
  const { delivery, cancellation } = exchange;
  const over = Promise.withResolvers<void>();
  delivery.source = watchBody(body, (error) => {
    onOver(error ?? cancellation.cause);
    over.resolve();
  });
  delivery.timedUntil = over.promise;
  return delivery.source;
}

/** Whose fault it was (docs/reference/data-plane.md#what-counts-for-a-breaker). */
export function outcomeOf(error: GatewayError | undefined): Outcome {
  if (!error) return 'success';
  const { fault, code } = error;
  if (code === 'gateway_timeout') return 'failure';
  if (code === 'response_rejected' || code === 'plugin_error') return 'success';
  if (!fault) return 'ignored';
  const { counts } = classOf(fault);
  if (counts) return fault.ofRequest === true ? 'ignored' : counts;
  const { status } = fault;
  if (status === undefined || status >= 500 || status < 400 || status === 401 || status === 403) return 'failure';
  return status === 400 || status === 404 || status === 422 ? 'success' : 'ignored';
}
