import {
  type CallInfo, type ChatRequest, type ChatTranslator, GatewayError, type OutgoingRequest, type ReplyOf, type Send, type Surface, type TranslatedSurface, tryParseJson, type WireReply, type WireRequest,
} from '../contract/index.ts';
import { Cancellation } from '../upstream/cancellation.ts';
import { collectBody, openReply, pumpReply, startBody } from '../upstream/reply-body.ts';
import type { CollectedReply, UpstreamCall } from '../upstream/transport.ts';
import type { Attempt } from './attempt.ts';
import { replyError, timeoutError, transportError, unusableReply } from '../upstream/fault.ts';
import { holdsBack, rejectionError } from './guard.ts';
import type { GenerationHooks } from './hooks.ts';
import { errorFrameMessage } from './normalize.ts';
import { answerTokensOf, headersTimeoutMs } from './headers-timeout.ts';
import { type ChunkFilter, Relay } from './relay.ts';
import { BufferedReply, readReply, shapeAnswer } from './read-reply.ts';
import type { RunningGeneration } from './running-generation.ts';
import { shownModel } from './shown.ts';
import { StreamSession } from './stream.ts';
import { LiveCall, outgoingRequest, toWire, translatorOf } from './translate.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const DETACHED_TIMEOUT_MS = 10_000;

/** Calls the provider once, for the translated answer. */
export function callUnary(attempt: Attempt, generation: RunningGeneration): Promise<ReplyOf<TranslatedSurface>> {
  const call = new LiveCall(attempt, generation.services);
  const wire = toWire(attempt, call, generation);
  attempt.calledAt = generation.services.clock.monotonic();
  if (translatorOf(attempt).relaysBytes) return openBytes(attempt, wire, generation);
  return unaryReply(attempt, wire, call, generation).then((reply) => readUnary(attempt, reply, call, generation.services.clock.now()));
}

function readUnary(attempt: Attempt, reply: CollectedReply, call: CallInfo, now: number): ReplyOf<TranslatedSurface> {
  if (!isSuccess(attempt.exchange.surface, reply.status)) throw replyError(attempt.provider.module, reply, now);
  return readReply(attempt, new BufferedReply(reply), call, Math.floor(now / 1000));
}

/** Opens an answer whose bytes go on as they arrive, and reads its first ones: without any it is a failed call. */
async function openBytes(attempt: Attempt, wire: WireRequest, { services: { transport, clock }, hooks }: RunningGeneration): Promise<ReplyOf<TranslatedSurface>> {
  const { status, headers, body } = await openReply(transport, await upstreamCall(attempt, wire, headersTimeoutOf(attempt, wire), hooks));
  if (!isSuccess(attempt.exchange.surface, status)) {
    const words = await collectBody(body).catch(() => {
      attempt.cancellation.throwIfCancelled();
      return new Uint8Array(); // a failure's status speaks for itself
    });
    throw replyError(attempt.provider.module, { status, headers, body: words }, clock.now());
  }
  const contentType = headers['content-type'] ?? '';
  if (/json/i.test(contentType)) throw unusableReply(errorIn(await collectBody(body)) ?? 'the answer is JSON, not bytes');
  const started = await startBody(body);
  if (!started) throw unusableReply('the answer is empty');
  return shapeAnswer(attempt, { contentType, body: started }, Math.floor(clock.now() / 1000));
}

/** What an error says that came with a good status. */
function errorIn(body: Buffer): string | undefined {
  return errorFrameMessage(tryParseJson(body.toString('utf8')));
}

/** Opens the provider's stream; resolves once its first chunk has been read. `onOver` runs after the last byte. */
export async function openStream(attempt: Attempt, generation: RunningGeneration, onOver: (error: GatewayError | undefined) => void): Promise<StreamSession> {
  const { exchange, provider } = attempt;
  const { clock } = generation.services;
  const call = new LiveCall(attempt, generation.services);
  const wire = toWire(attempt, call, generation);
  const session = new StreamSession({
    relay: relayFor(attempt, call, generation),
    clock,
    cancellation: attempt.cancellation,
    idleMs: generation.services.streamIdleMs,
    onIdle: (idle_timeout_ms) => generation.services.log.warn('stream response timed out waiting for next chunk', { target: attempt.target.virtualKey, idle_timeout_ms, trace_id: exchange.id }),
    refuse: (status, headers, body) => replyError(provider.module, { status, headers, body }, clock.now()),
  });
  attempt.calledAt = clock.monotonic();
  try {
    await Promise.all([dispatchStream(attempt, wire, call, session, generation), session.started]);
  } catch (error) {
    session.release();
    throw error;
  }
  measureCall(attempt, generation);
  generation.services.log.debug('stream request started', { model: shownModel(exchange.model, generation.services.redactor), provider: attempt.target.virtualKey, trace_id: exchange.id });
  exchange.reportedModel = session.relay.reportedModel;
  exchange.readStreamText = () => session.relay.assembly.text();
  exchange.ttftMs = (session.firstChunkAt ?? clock.monotonic()) - exchange.arrivedAt;
  void session.ended.then(onOver);
  return session;
}

/** Takes down, once, how long the provider took; for a stream, until its first chunk. */
export function measureCall(attempt: Attempt, { services: { clock } }: RunningGeneration): void {
  if (attempt.calledAt === undefined || attempt.upstreamMs !== undefined) return;
  attempt.upstreamMs = clock.monotonic() - attempt.calledAt;
  attempt.exchange.upstreamMs += attempt.upstreamMs;
}

function upstreamCall(attempt: Attempt, wire: WireRequest, headersTimeoutMs: number, hooks: GenerationHooks): UpstreamCall | Promise<UpstreamCall> {
  const { cancellation, provider: { module: { connection } } } = attempt;
  const ready = (request: OutgoingRequest): UpstreamCall => {
    cancellation.throwIfCancelled();
    return { request, cancellation, connectTimeoutMs: connection.connectTimeoutMs ?? CONNECT_TIMEOUT_MS, headersTimeoutMs };
  };
  const request = outgoingRequest(attempt, wire, hooks);
  return request instanceof Promise ? request.then(ready) : ready(request);
}

function headersTimeoutOf({ exchange, provider: { module } }: Attempt, wire: WireRequest): number {
  return headersTimeoutMs(module.connection, answerTokensOf(wire, exchange.request));
}

function unaryReply(attempt: Attempt, wire: WireRequest, call: CallInfo, generation: RunningGeneration): Promise<CollectedReply> {
  const { module } = attempt.provider;
  if (module.converse) return attempt.cancellation.race(converseUnary(attempt, wire, call, generation));
  const { services: { transport }, hooks } = generation;
  const order = upstreamCall(attempt, wire, headersTimeoutOf(attempt, wire), hooks);
  return order instanceof Promise ? order.then((ready) => transport.unary(ready)) : transport.unary(order);
}

/** Providers that make several round trips, or none, do it here. */
async function converse(attempt: Attempt, wire: WireRequest, call: CallInfo, generation: RunningGeneration): Promise<WireReply> {
  const { module } = attempt.provider;
  if (!module.converse) throw new Error(`${module.name} makes a single call`);
  return module.converse(sender(attempt, generation), wire, call);
}

async function converseUnary(attempt: Attempt, wire: WireRequest, call: CallInfo, generation: RunningGeneration): Promise<CollectedReply> {
  try {
    const reply = await converse(attempt, wire, call, generation);
    return { ...reply, body: await collectBody(reply.body) };
  } catch (cause) {
    throw cause instanceof GatewayError ? cause : transportError(cause);
  }
}

/** Streams have no header timeout: the silence before the first chunk is bounded as a whole. */
async function dispatchStream(attempt: Attempt, wire: WireRequest, call: CallInfo, session: StreamSession, generation: RunningGeneration): Promise<void> {
  const { module } = attempt.provider;
  if (!module.converse) generation.services.transport.open(await upstreamCall(attempt, wire, 0, generation.hooks), session);
  else void pumpReply(converse(attempt, wire, call, generation), session);
}

/** `send` for providers that make several round trips. */
function sender(attempt: Attempt, generation: RunningGeneration): Send {
  const { services: { transport }, hooks } = generation;
  return async (request, options): Promise<WireReply> => {
    if (options?.detached) return sendDetached(attempt, request, generation);
    if (options?.stream) return openReply(transport, await upstreamCall(attempt, request, 0, hooks));
    return transport.unary(await upstreamCall(attempt, request, headersTimeoutOf(attempt, request), hooks));
  };
}

/** Outlives the call, and so is bounded on its own. */
async function sendDetached(attempt: Attempt, request: WireRequest, { services: { transport, clock }, hooks }: RunningGeneration): Promise<WireReply> {
  const cancellation = new Cancellation();
  const timer = clock.timer(DETACHED_TIMEOUT_MS, () => cancellation.cancel(timeoutError()));
  try {
    return await transport.unary({
      request: await outgoingRequest(attempt, request, hooks), cancellation, connectTimeoutMs: DETACHED_TIMEOUT_MS, headersTimeoutMs: DETACHED_TIMEOUT_MS,
    });
  } finally {
    timer.cancel();
  }
}

/** These are answered with 200 alone; elsewhere any 2xx is an answer. Source: providers reference 4.4. */
const EXACTLY_OK: ReadonlySet<Surface> = new Set(['chat', 'completions', 'images', 'rerank']);

function isSuccess(surface: Surface, status: number): boolean {
  return status === 200 || (status > 200 && status < 300 && !EXACTLY_OK.has(surface));
}

function relayFor(attempt: Attempt, call: CallInfo, generation: RunningGeneration): Relay {
  const { exchange, provider: { module } } = attempt;
  const { openStream: open, editStream: edit } = translatorOf(attempt) as ChatTranslator;
  const filter = chunkFilter(attempt, generation);
  return new Relay({
    encoder: exchange.wire.openStream(exchange),
    model: exchange.model,
    created: Math.floor(generation.services.clock.now() / 1000),
    stripUsage: exchange.stripsUsage,
    framing: module.framing ?? 'sse',
    decode: typeof open === 'function' ? open(call) : undefined,
    edit: edit?.(call, exchange.request as ChatRequest),
    filter,
    isGuarded: exchange.streamGuards !== undefined && holdsBack(exchange.streamGuards),
    assembles: generation.plugins.count > 0,
  });
}

/** Present only when some plugin guards this stream. A guard is made per attempt: nothing of a failed one stays. */
function chunkFilter({ exchange }: Attempt, { hooks, plugins }: RunningGeneration): ChunkFilter | undefined {
  exchange.streamGuards = plugins.openStreamGuards(exchange);
  if (!exchange.streamGuards) return undefined;
  return (chunks, moment) => {
    const step = hooks.chunk.call(chunks, exchange, moment);
    if ('rejection' in step) throw rejectionError(step.module, 'after_request', step.rejection, exchange, { hooks });
    return step;
  };
}
