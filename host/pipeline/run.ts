import type { GatewayError } from '../contract/index.ts';
import { within } from '../common/clock.ts';
import { completeOwnAnswer } from './complete-turn.ts';
import { armDeadline } from './deadline.ts';
import { callEventual, throwRefusal } from './eventual.ts';
import { asGatewayError } from './gateway-fault.ts';
import { isTapped } from './hooks.ts';
import type { LiveExchange } from './live-exchange.ts';
import { refuseUnreadable } from './refuse-unreadable.ts';
import type { RunningGeneration } from './running-generation.ts';
import { AnswerStream } from './stream.ts';
import { type RunTurn, streamedReply } from './turns.ts';

/** `on_error` and the end of a stream run apart from the client; this bounds them. */
const DETACHED_LIMIT_MS = 10_000;

/**
 * Takes an exchange through the pipeline. A whole answer ends in `exchange.reply`; a stream comes back with its first
 * chunk read, to be ended with `finishStream`. `on_error` hears of whatever fails, and it is thrown as a `GatewayError`.
 * `forward` answers in the place of the turns an exchange that is not routed, whose target the caller has found; it is
 * to be ended with `finishForwarded`.
 */
export async function run(exchange: LiveExchange, generation: RunningGeneration, forward?: RunTurn): Promise<AnswerStream | undefined> {
  const disarm = armDeadline(exchange.cancellation, generation.requestTimeoutMs, 'the request did not finish', generation.services.clock);
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
      if (forward) return undefined; // its bytes are still to be sent
      exchange.reply = answer;
    } else completeOwnAnswer(exchange, answeredBy, generation.services);
    const finishing = after(exchange, generation);
    if (finishing) await exchange.cancellation.race(finishing);
    exchange.cancellation.throwIfCancelled();
    return undefined;
  } catch (cause) {
    throw await fail(exchange, asGatewayError(cause), generation);
  } finally {
    // Of a stream it ends with the first chunk, unless the exchange says otherwise.
    if (exchange.delivery.timedUntil) void exchange.delivery.timedUntil.then(disarm);
    else disarm?.();
  }
}

/** Tells `on_error` of an answer that broke off on its way. Returns the error. */
export function failReply(exchange: LiveExchange, cause: unknown, generation: RunningGeneration): Promise<GatewayError> {
  return fail(exchange, asGatewayError(cause), generation);
}

/** Runs what follows a stream's last chunk. Returns the error its last event must tell, if any. */
export async function finishStream(exchange: LiveExchange, stream: AnswerStream, generation: RunningGeneration): Promise<GatewayError | undefined> {
  const broken = await stream.ended;
  if (broken) return fail(exchange, broken, generation);
  try {
    exchange.reply = streamedReply(exchange, stream);
    const finishing = after(exchange, generation);
    if (finishing) await within(finishing, DETACHED_LIMIT_MS, generation.services.clock, 'a plugin stage');
    return undefined;
  } catch (cause) {
    return fail(exchange, asGatewayError(cause), generation);
  }
}

/** Runs what follows the last byte of a forwarded answer. It has been sent: a rejection is recorded, and that is all. */
export async function finishForwarded(exchange: LiveExchange, generation: RunningGeneration): Promise<void> {
  try {
    const finishing = after(exchange, generation);
    if (finishing) await within(finishing, DETACHED_LIMIT_MS, generation.services.clock, 'a plugin stage');
  } catch (cause) {
    await fail(exchange, asGatewayError(cause), generation);
  }
}

/** Throws the refusal; a promise only where a ledger or a plugin waits, and then no longer than the client does. */
function before(exchange: LiveExchange, { hooks }: RunningGeneration): Promise<void> | undefined {
  exchange.stage = 'before_request';
  const charging = isTapped(hooks.charge) ? throwRefusal(callEventual(hooks.charge, exchange)) : undefined;
  const waiting = charging ? charging.then(() => beforePlugins(exchange, hooks)) : beforePlugins(exchange, hooks);
  return waiting && exchange.cancellation.race(waiting);
}

function beforePlugins(exchange: LiveExchange, hooks: RunningGeneration['hooks']): Promise<void> | undefined {
  const hook = hooks.beforeRequest[exchange.surface];
  return isTapped(hook) ? throwRefusal(callEventual(hook, exchange)) : undefined;
}

function after(exchange: LiveExchange, { hooks }: RunningGeneration): Promise<void> | undefined {
  const hook = hooks.afterRequest[exchange.surface];
  exchange.stage = 'after_request';
  exchange.answered();
  return isTapped(hook) ? throwRefusal(callEventual(hook, exchange)) : undefined;
}

/** Tells everybody who listens, and gives the error back. */
async function fail(exchange: LiveExchange, error: GatewayError, { hooks, services }: RunningGeneration): Promise<GatewayError> {
  exchange.error = error;
  exchange.stage = 'on_error';
  const hook = hooks.onError[exchange.surface];
  if (isTapped(hook)) {
    await within(hook.promise(exchange), DETACHED_LIMIT_MS, services.clock, 'a plugin stage').catch((cause: unknown) => {
      services.log.error('on_error did not finish', { trace_id: exchange.id, error: cause });
    });
  }
  return error;
}
