import { type Billed, type ChatReply, GatewayError, readUsage, SURFACES, type Usage } from '../contract/index.ts';
import { within } from '../common/clock.ts';
import { callEventual, throwRefusal } from './eventual.ts';
import type { LiveExchange } from './live-exchange.ts';
import { asGatewayError } from './gateway-fault.ts';
import { isTapped } from './hooks.ts';
import { normalizeReply } from './normalize.ts';
import type { PipelineServices } from './pipeline-services.ts';
import type { RunningGeneration, RunningPlugins } from './running-generation.ts';
import type { StreamSession } from './stream.ts';
import { walkTargets } from './walk.ts';

/** `on_error` and the end of a stream run apart from the client; this bounds them. */
const DETACHED_LIMIT_MS = 10_000;

/**
 * Takes an exchange through the pipeline. A unary answer ends in `exchange.reply`; a stream comes back with its first
 * chunk read, to be ended with `finishStream`. Whatever fails is told to `on_error` and thrown as a `GatewayError`.
 */
export async function run(exchange: LiveExchange, generation: RunningGeneration): Promise<StreamSession | undefined> {
  const disarm = armDeadline(exchange, generation);
  try {
    generation.hooks.prepare.call(exchange);
    refuseUnreadable(exchange, generation);
    const waiting = before(exchange, generation);
    if (waiting) await waiting;
    exchange.cancellation.throwIfCancelled();
    const session = exchange.answeredBy === undefined ? await walkTargets(exchange, generation) : undefined;
    if (session) return session;
    completeReply(exchange, generation.services);
    const finishing = after(exchange, generation);
    if (finishing) await exchange.cancellation.race(finishing);
    exchange.cancellation.throwIfCancelled();
    return undefined;
  } catch (cause) {
    throw await fail(exchange, asGatewayError(cause), generation);
  } finally {
    if (exchange.bodyOver) void exchange.bodyOver.then(disarm);
    else disarm?.();
  }
}

/** Tells `on_error` of an answer that broke off on its way. Returns the error. */
export function failReply(exchange: LiveExchange, cause: unknown, generation: RunningGeneration): Promise<GatewayError> {
  return fail(exchange, asGatewayError(cause), generation);
}

/** Runs what follows a stream's last chunk. Returns the error its last event must tell, if any. */
export async function finishStream(exchange: LiveExchange, session: StreamSession, generation: RunningGeneration): Promise<GatewayError | undefined> {
  const { services } = generation;
  const broken = await session.ended;
  if (broken) {
    exchange.usage = session.relay.usage;
    return failStream(exchange, broken, generation);
  }
  exchange.reportedModel = session.relay.reportedModel;
  price(exchange, { usage: session.relay.usage }, services);
  exchange.reply = session.relay.assembly.reply({
    id: session.relay.id,
    created: Math.floor(exchange.startedAt / 1000),
    model: exchange.model,
    provider: exchange.target ?? '',
    usage: exchange.usage,
  });
  try {
    const finishing = after(exchange, generation);
    if (finishing) await within(finishing, DETACHED_LIMIT_MS, services.clock, 'a plugin stage');
    return undefined;
  } catch (cause) {
    return failStream(exchange, asGatewayError(cause), generation);
  }
}

/** Shapes a unary answer, and measures it. An answer of a plugin costs nothing. */
function completeReply(exchange: LiveExchange, services: PipelineServices): void {
  const { surface, answeredBy, target } = exchange;
  if (SURFACES[surface].isChat) {
    const reply = exchange.reply as ChatReply;
    const created = Math.floor(services.clock.now() / 1000);
    normalizeReply(reply, { model: exchange.model, provider: answeredBy ?? target ?? '', created });
    price(exchange, { usage: reply.usage }, services);
  } else {
    const { usage, data } = exchange.reply as { readonly usage?: Usage; readonly data?: readonly unknown[] };
    price(exchange, { usage: readUsage(usage), images: surface === 'images' ? data?.length : undefined }, services);
  }
  if (answeredBy !== undefined) exchange.costUsd = 0;
}

/**
 * Cost comes before `after_request`, so that the log row carries it; unpriced stays unknown, which is not 0. The price is
 * that of the model asked for, else of the model the upstream says it is: a deployment may have any name.
 */
function price(exchange: LiveExchange, billed: Billed, { catalog }: PipelineServices): void {
  exchange.usage = billed.usage;
  const { target, upstreamModel, reportedModel: reported } = exchange;
  if (target === undefined || upstreamModel === undefined || (!billed.usage && !billed.images)) return;
  const isOther = reported !== undefined && reported !== upstreamModel;
  const cost = catalog.cost(target, upstreamModel, billed) ?? (isOther ? catalog.cost(target, reported, billed) : undefined);
  exchange.costUsd = cost?.priced ? cost.totalUsd : undefined;
}

/** `request_timeout` of the whole request, bytes that are relayed included; of a stream it ends with the first chunk, when `run` returns. */
function armDeadline(exchange: LiveExchange, { requestTimeoutMs: ms, services: { clock } }: RunningGeneration): (() => void) | undefined {
  if (ms === undefined) return undefined;
  const timer = clock.timer(ms, () => exchange.cancellation.cancel(new GatewayError('gateway_timeout', `the request did not finish within ${ms} ms`)));
  return () => timer.cancel();
}

/** A body nobody can read is refused while a content guardrail stands before the request (specification 4.3 rule 8). */
function refuseUnreadable(exchange: LiveExchange, { plugins }: RunningGeneration): void {
  const why = whyUnreadable(exchange, plugins);
  if (why === undefined) return;
  exchange.rejectedBy = 'gateway';
  throw new GatewayError('request_rejected', `request rejected by gateway (before_request): ${why}`);
}

function whyUnreadable({ surface, unreadable }: LiveExchange, plugins: RunningPlugins): string | undefined {
  const absent = plugins.uncovered.get(surface);
  if (absent !== undefined) return `${absent} does not read ${surface} bodies, and this deployment does not forward them uninspected`;
  if (!unreadable || !plugins.contentGuarded.has(surface)) return undefined;
  return 'the body cannot be inspected by the configured content guardrail, and this deployment does not forward such bodies';
}

/** Throws the refusal; a promise only where a plugin waits, and then no longer than the client does. */
function before(exchange: LiveExchange, { hooks }: RunningGeneration): Promise<void> | undefined {
  const hook = hooks.beforeRequest[exchange.surface];
  exchange.stage = 'before_request';
  const waiting = isTapped(hook) ? throwRefusal(callEventual(hook, exchange)) : undefined;
  return waiting && exchange.cancellation.race(waiting);
}

function after(exchange: LiveExchange, { hooks }: RunningGeneration): Promise<void> | undefined {
  const hook = hooks.afterRequest[exchange.surface];
  exchange.stage = 'after_request';
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

/** The same for a stream. `on_error` sees what it used; the figures count the tokens of complete streams only (observability reference 2.4). */
async function failStream(exchange: LiveExchange, error: GatewayError, generation: RunningGeneration): Promise<GatewayError> {
  await fail(exchange, error, generation);
  exchange.usage = undefined;
  exchange.costUsd = undefined;
  return error;
}
