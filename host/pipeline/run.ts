import type { GatewayError } from '../contract/index.ts';
import { CredentialEnded } from '../stores/credential-ended.ts';
import type { Cancellation } from '../upstream/cancellation.ts';
import { DETACHED_LIMIT_MS } from '../boundary/module-limits.ts';
import { TookTooLong, within } from '../common/clock.ts';
import { completeOwnAnswer } from './turns/complete-turn.ts';
import { armDeadline } from './deadline.ts';
import { callEventual, throwRefusal } from './eventual.ts';
import { asGatewayError } from './gateway-fault.ts';
import { isTapped } from './hooks.ts';
import type { LiveExchange } from './live-exchange.ts';
import { awaitsVerdict } from './guards/plugin-policy.ts';
import { refuseUnreadable } from './guards/refuse-unreadable.ts';
import type { RunningGeneration } from './running-generation.ts';
import { AnswerStream } from '../answer/stream.ts';
import { type RunTurn, streamedReply } from './turns/turns.ts';

/**
 * Takes an exchange through the pipeline. A whole answer ends in `exchange.reply`; a stream comes back with its first
 * chunk read, to be ended with `finishStream`. `on_error` hears of whatever fails, and it is thrown as a `GatewayError`.
 * `forward` answers in the place of the turns an exchange that is not routed. Where it gives no answer, because the caller
 * sends the bytes as they arrive, the exchange is to be ended with `finishForwarded`.
 */
export async function run(
  exchange: LiveExchange,
  generation: RunningGeneration,
  forward?: RunTurn,
): Promise<AnswerStream | undefined> {
  const disarm = armDeadline(
    exchange.cancellation,
    generation.requestTimeoutMs,
    'the request did not finish',
    generation.services.clock,
  );
  try {
    if (!forward) generation.hooks.prepare.call(exchange);
    refuseUnreadable(exchange, generation.plugins);
    const waiting = before(exchange, generation);
    if (waiting) await waiting;
    exchange.cancellation.throwIfCancelled();
    const { answeredBy } = exchange.plugins;
    if (answeredBy === undefined) {
      const answer = await (forward ?? generation.runTurns)(exchange);
      if (answer instanceof AnswerStream) return answer;
      if (forward && answer === undefined) return undefined; // its bytes are still to be sent
      exchange.reply = answer;
    } else completeOwnAnswer(exchange, answeredBy, generation.services);
    const finishing = afterAnswer(exchange, generation);
    if (finishing) await exchange.cancellation.race(finishing);
    exchange.cancellation.throwIfCancelled();
    return undefined;
  } catch (cause) {
    throw await fail(exchange, asGatewayError(cause), generation, errorWaitMs(exchange, generation));
  } finally {
    // Of a stream it ends with the first chunk, unless the exchange says otherwise.
    if (exchange.delivery.timedUntil) void exchange.delivery.timedUntil.then(disarm);
    else disarm?.();
  }
}

/** Tells `on_error` of an answer that broke off on its way. Returns the error. */
export function failReply(
  exchange: LiveExchange,
  cause: unknown,
  generation: RunningGeneration,
): Promise<GatewayError> {
  return fail(exchange, asGatewayError(cause), generation, Infinity);
}

/** Runs what follows a stream's last chunk. Returns the error its last event must tell, if any. */
export async function finishStream(
  exchange: LiveExchange,
  stream: AnswerStream,
  generation: RunningGeneration,
): Promise<GatewayError | undefined> {
  const broken = await stream.ended;
  if (broken) return fail(exchange, broken, generation, Infinity);
  try {
    exchange.reply = streamedReply(exchange, stream);
    const { streamGuards: guards } = exchange.plugins;
    const after = afterAnswer(exchange, generation);
    const finishing = after && guards && awaitsVerdict(guards) ? whileItStands(exchange.cancellation, after) : after;
    if (finishing) await within(finishing, DETACHED_LIMIT_MS, generation.services.clock, 'a plugin stage');
    return undefined;
  } catch (cause) {
    return fail(exchange, asGatewayError(cause), generation, Infinity);
  }
}

/** Waits for the verdict on an answer of which nothing has left, but only while the client's credential stands: the answer does not leave after that. */
function whileItStands(cancellation: Cancellation, verdict: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = cancellation.onCancel((cause) => {
      if (cause instanceof CredentialEnded) reject(cause);
    });
    void verdict.then(resolve, reject).finally(stop);
  });
}

/** Runs what follows the last byte of a forwarded answer. It has been sent: a rejection is recorded, and that is all. */
export async function finishForwarded(exchange: LiveExchange, generation: RunningGeneration): Promise<void> {
  try {
    const finishing = afterAnswer(exchange, generation);
    if (finishing) await within(finishing, DETACHED_LIMIT_MS, generation.services.clock, 'a plugin stage');
  } catch (cause) {
    await fail(exchange, asGatewayError(cause), generation, Infinity);
  }
}

/** Throws the refusal; a promise only where a ledger or a plugin waits, and then no longer than the client does. */
function before(exchange: LiveExchange, { hooks }: RunningGeneration): Promise<void> | undefined {
  exchange.stage = 'before_request';
  const charging =
    isTapped(hooks.charge) && !exchange.isCounting ? throwRefusal(callEventual(hooks.charge, exchange)) : undefined;
  const waiting = charging ? charging.then(() => beforePlugins(exchange, hooks)) : beforePlugins(exchange, hooks);
  return waiting && exchange.cancellation.race(waiting);
}

export function beforePlugins(exchange: LiveExchange, hooks: RunningGeneration['hooks']): Promise<void> | undefined {
  const hook = hooks.beforeRequest[exchange.surface];
  return isTapped(hook) ? throwRefusal(callEventual(hook, exchange)) : undefined;
}

/** What follows an answer: a promise only where a plugin waits. */
export function afterAnswer(exchange: LiveExchange, { hooks }: RunningGeneration): Promise<void> | undefined {
  const hook = hooks.afterRequest[exchange.surface];
  exchange.stage = 'after_request';
  exchange.answered();
  return isTapped(hook) ? throwRefusal(callEventual(hook, exchange)) : undefined;
}

/** Tells everybody who listens, and gives the error back. The answer waits no longer than `waitMs`; handlers keep their own time. */
async function fail(
  exchange: LiveExchange,
  error: GatewayError,
  { hooks, services: { clock, closing, log } }: RunningGeneration,
  waitMs: number,
): Promise<GatewayError> {
  exchange.error = error;
  exchange.stage = 'on_error';
  const hook = hooks.onError[exchange.surface];
  if (isTapped(hook)) {
    const telling = hook.promise(exchange);
    await within(telling, Math.min(waitMs, DETACHED_LIMIT_MS, closing.leftMs), clock, 'on_error').catch(
      (cause: unknown) => {
        if (!(cause instanceof TookTooLong)) throw cause; // handlers are guarded: it is a bug of the gateway
        exchange.plugins.telling = telling;
        log.warn('the answer does not wait for on_error any longer', { trace_id: exchange.id });
      },
    );
  }
  return error;
}

/** How long an answer waits for `on_error`: within the request's own time, if it has one. */
function errorWaitMs(exchange: LiveExchange, { requestTimeoutMs: total = Infinity }: RunningGeneration): number {
  return Math.max(0, total - exchange.elapsedMs());
}
