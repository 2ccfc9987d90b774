import { GatewayError, type RawReply, SURFACES } from '../contract/index.ts';
import type { Target } from '../generation/generation.ts';
import type { ConnectedProvider } from '../upstream/connect.ts';
import { watchBody } from '../upstream/body.ts';
import { Cancellation } from '../upstream/cancellation.ts';
import { callEventual, throwRefusal } from './eventual.ts';
import type { LiveExchange } from './exchange.ts';
import { isTapped } from './hooks.ts';
import { callUnary, measureCall, openStream } from './provider-call.ts';
import type { PipelineServices } from './services.ts';
import type { StreamSession } from './stream.ts';

/**
 * How an attempt ended, for the breaker and the figures: `failure` is the provider's fault, `ignored` nobody's (the
 * client left, a local refusal, a rate limit). Set once by the host; taps read it and never classify.
 */
export type Outcome = 'success' | 'failure' | 'ignored';

/** One try at one target, local refusals included. */
export interface Attempt {
  readonly exchange: LiveExchange;
  readonly target: Target;
  readonly provider: ConnectedProvider;
  /** 1 for the first attempt of the exchange. */
  readonly number: number;
  readonly upstreamModel: string;
  /** Ends with the exchange, or by the attempt's own deadline. */
  readonly cancellation: Cancellation;
  outcome: Outcome | undefined;
  error: GatewayError | undefined;
  /** Monotonic milliseconds at which the provider was called, if it was. */
  calledAt: number | undefined;
  /** Milliseconds of the provider call; of a stream, to its first chunk. */
  upstreamMs: number | undefined;
  /** What taps remember of it, each under a key of its own (`AttemptNote`). */
  [note: symbol]: unknown;
}

/** Tries one target. A unary answer is left in `exchange.reply`; a stream comes back running, with its first chunk read. */
export async function attemptTarget(exchange: LiveExchange, target: Target, provider: ConnectedProvider, services: PipelineServices): Promise<StreamSession | undefined> {
  const { lastTarget, upstreamModel } = exchange;
  const attempt = begin(exchange, target, provider);
  const disarm = armDeadline(attempt, services);
  let isRelaying = false;
  try {
    const admission = admit(attempt);
    if (admission) await admission;
    attempt.cancellation.throwIfCancelled();
    if (exchange.streaming) return await openStream(attempt, services, (error) => settle(attempt, error, services));
    exchange.reply = await callUnary(attempt, services);
    measureCall(attempt, services);
    isRelaying = relayBytes(attempt, (error) => {
      disarm?.();
      settle(attempt, error, services);
    });
    if (!isRelaying) settle(attempt, undefined, services);
    return undefined;
  } catch (cause) {
    measureCall(attempt, services);
    const error = cause instanceof GatewayError ? cause : new GatewayError('routing_error', 'the gateway could not complete the request', { cause });
    settle(attempt, error, services);
    if (isUnsayable(attempt, error)) Object.assign(exchange, { attempts: attempt.number - 1, lastTarget, upstreamModel });
    throw error;
  } finally {
    if (!isRelaying) disarm?.();
  }
}

/** The provider's wire cannot hold the request, and nothing was sent: that is a fault of the request, and no attempt (data-plane reference 2.3). */
function isUnsayable({ calledAt }: Attempt, { code, fault }: GatewayError): boolean {
  return code === 'invalid_request' && !fault && calledAt === undefined;
}

/** An answer whose bytes go on as they arrive is an attempt until its last one; false for answers that are whole. */
function relayBytes({ exchange }: Attempt, onOver: (error: GatewayError | undefined) => void): boolean {
  const { reply, surface, cancellation } = exchange;
  if (!SURFACES[surface].isRaw) return false;
  const { body, contentType } = reply as RawReply;
  if (body instanceof Uint8Array) return false;
  const over = Promise.withResolvers<void>();
  const source = watchBody(body, (error) => {
    onOver(error ?? cancellation.cause);
    over.resolve();
  });
  Object.assign(exchange, { reply: { contentType, body: source }, source, bodyOver: over.promise });
  return true;
}

function begin(exchange: LiveExchange, target: Target, provider: ConnectedProvider): Attempt {
  exchange.attempts += 1;
  exchange.lastTarget = target;
  exchange.upstreamModel = target.upstreamModel(exchange.model);
  exchange.reportedModel = undefined;
  const cancellation = target.requestTimeoutMs === undefined ? exchange.cancellation : new Cancellation();
  return {
    exchange, target, provider, cancellation, number: exchange.attempts, upstreamModel: exchange.upstreamModel,
    outcome: undefined, error: undefined, calledAt: undefined, upstreamMs: undefined,
  };
}

/** The target's own `request_timeout`; of a stream it bounds the start only. */
function armDeadline({ exchange, target, cancellation }: Attempt, { clock }: PipelineServices): (() => void) | undefined {
  const { requestTimeoutMs: ms } = target;
  if (ms === undefined) return undefined;
  const timer = clock.timer(ms, () => cancellation.cancel(new GatewayError('gateway_timeout', `the provider did not answer within ${ms} ms`)));
  exchange.cancellation.onCancel((cause) => cancellation.cancel(cause));
  return () => timer.cancel();
}

/** Throws the refusal; a promise only where somebody must wait for a slot. */
function admit(attempt: Attempt): Promise<void> | undefined {
  const { admit: hook } = attempt.exchange.generation.hooks;
  if (!isTapped(hook)) return undefined;
  return throwRefusal(callEventual(hook, attempt));
}

/** Tells everybody who recorded something on the attempt that it is over, exactly once. */
function settle(attempt: Attempt, error: GatewayError | undefined, { log }: PipelineServices): void {
  if (attempt.outcome) return;
  attempt.error = error;
  attempt.outcome = outcomeOf(error);
  const { settled } = attempt.exchange.generation.hooks;
  try {
    settled.call(attempt);
  } catch (cause) {
    log.error('a builtin failed to settle an attempt', { trace_id: attempt.exchange.id, target: attempt.target.virtualKey, error: cause });
  }
}

/** Whose fault it was (data-plane reference 6.2). */
function outcomeOf(error: GatewayError | undefined): Outcome {
  if (!error) return 'success';
  const { fault, code } = error;
  if (code === 'gateway_timeout') return 'failure';
  if (code === 'response_rejected' || code === 'plugin_error') return 'success';
  if (!fault) return 'ignored';
  const { status, reason } = fault;
  if (reason === 'context_length') return 'ignored';
  if (status === undefined || status >= 500 || status < 400 || status === 401 || status === 403) return 'failure';
  return status === 400 || status === 404 || status === 422 ? 'success' : 'ignored';
}
