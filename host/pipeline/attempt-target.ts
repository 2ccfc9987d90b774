import { GatewayError, type RawReply, SURFACES } from '../contract/index.ts';
import type { ConnectedProvider } from '../upstream/connect.ts';
import { watchBody } from '../upstream/reply-body.ts';
import type { Attempt, Outcome } from './attempt.ts';
import { Cancellation } from '../upstream/cancellation.ts';
import { callEventual, throwRefusal } from './eventual.ts';
import { asGatewayError } from './gateway-fault.ts';
import type { LiveExchange } from './live-exchange.ts';
import { isTapped } from './hooks.ts';
import { callUnary, measureCall, openStream } from './provider-call.ts';
import type { RunningGeneration } from './running-generation.ts';
import type { StreamSession } from './stream.ts';
import type { Target } from './target.ts';

/** Tries one target. A unary answer is left in `exchange.reply`; a stream comes back running, with its first chunk read. */
export async function attemptTarget(exchange: LiveExchange, target: Target, provider: ConnectedProvider, generation: RunningGeneration): Promise<StreamSession | undefined> {
  const { lastTarget, upstreamModel } = exchange;
  const attempt = begin(exchange, target, provider);
  const disarm = armDeadline(attempt, generation);
  let isRelaying = false;
  try {
    const admission = admit(attempt, generation);
    if (admission) await admission;
    attempt.cancellation.throwIfCancelled();
    if (exchange.streaming) return await openStream(attempt, generation, (error) => settle(attempt, error, generation));
    exchange.reply = await callUnary(attempt, generation);
    measureCall(attempt, generation);
    isRelaying = relayBytes(attempt, (error) => {
      disarm?.();
      settle(attempt, error, generation);
    });
    if (!isRelaying) settle(attempt, undefined, generation);
    return undefined;
  } catch (cause) {
    measureCall(attempt, generation);
    const error = asGatewayError(cause);
    settle(attempt, error, generation);
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
function armDeadline({ exchange, target, cancellation }: Attempt, { services: { clock } }: RunningGeneration): (() => void) | undefined {
  const { requestTimeoutMs: ms } = target;
  if (ms === undefined) return undefined;
  const timer = clock.timer(ms, () => cancellation.cancel(new GatewayError('gateway_timeout', `the provider did not answer within ${ms} ms`)));
  exchange.cancellation.onCancel((cause) => cancellation.cancel(cause));
  return () => timer.cancel();
}

/** Throws the refusal; a promise only where somebody must wait for a slot. */
function admit(attempt: Attempt, { hooks: { admit: hook } }: RunningGeneration): Promise<void> | undefined {
  if (!isTapped(hook)) return undefined;
  return throwRefusal(callEventual(hook, attempt));
}

/** Tells everybody who recorded something on the attempt that it is over, exactly once. */
function settle(attempt: Attempt, error: GatewayError | undefined, { hooks: { settled }, services: { log } }: RunningGeneration): void {
  if (attempt.outcome) return;
  attempt.error = error;
  attempt.outcome = outcomeOf(error);
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
