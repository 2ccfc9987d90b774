/** The translating half of an attempt: what to send, and how to read the reply. */
import {
  type CallInfo,
  type ChatRequest,
  type ChatTranslator,
  GatewayError,
  type ReplyOf,
  type Send,
  type Surface,
  type TranslatedSurface,
  tryParseJson,
  type WireReply,
  type WireRequest,
} from '../../contract/index.ts';
import { ModuleFault, type ModuleRef } from '../../boundary/module-fault.ts';
import { checkedReply, providerError } from '../../boundary/provider-boundary.ts';
import { refusePromise } from '../../boundary/thenable.ts';
import { replyError, transportError, unusableReply } from '../../upstream/fault.ts';
import { collectBody, pumpReply, startBody } from '../../upstream/reply-body.ts';
import type { CollectedReply } from '../../upstream/upstream-call.ts';
import type { ClientStream } from '../../wire/client-wire.ts';
import type { Attempt } from './attempt.ts';
import { measureCall } from './attempt-lifecycle.ts';
import { awaitsVerdict, holdsBack } from '../guards/plugin-policy.ts';
import { guardRejection } from '../guards/verdict-notes.ts';
import { answerTokensOf, headersTimeoutMs } from './headers-timeout.ts';
import { errorFrameMessage } from '../../answer/chunk-kind.ts';
import type { ChunkFilter } from '../../answer/chunk-filter.ts';
import { Relay } from '../../answer/relay.ts';
import type { RelayGuards, RelaySource } from '../../answer/relay-source.ts';
import { BufferedReply, readReply, shapeAnswer } from './read-reply.ts';
import type { RunningGeneration } from '../running-generation.ts';
import { keepReply } from './same-wire.ts';
import { sendDetached, sendOpen, sendStream, sendUnary } from './send-attempt.ts';
import { shownModel } from '../shown.ts';
import { StreamSession } from '../../answer/stream.ts';
import { SummedUsage } from '../billing/summed-usage.ts';
import { LiveCall, outgoingRequest, toWire, translatorOf } from './translate.ts';

/** Calls the provider once, for the translated answer. */
export function callUnary(attempt: Attempt, generation: RunningGeneration): Promise<ReplyOf<TranslatedSurface>> {
  const call = new LiveCall(attempt, generation.services);
  const wire = toWire(attempt, call, generation);
  attempt.calledAt = generation.services.clock.monotonic();
  if (translatorOf(attempt).relaysBytes) return openBytes(attempt, wire, generation);
  return unaryReply(attempt, wire, call, generation).then((reply) =>
    readUnary(attempt, reply, call, generation.services.clock.now()),
  );
}

function readUnary(attempt: Attempt, reply: CollectedReply, call: CallInfo, now: number): ReplyOf<TranslatedSurface> {
  if (!isSuccess(attempt.exchange.surface, reply.status)) throw failedReply(attempt, reply, now);
  attempt.exchange.routing.upstreamRequestId = requestIdOf(reply.headers);
  const buffered = new BufferedReply(reply);
  const answer = readReply(attempt, buffered, call, Math.floor(now / 1000));
  return attempt.isSameWire ? keepReply(attempt, buffered, answer) : answer;
}

const requestIdOf = (headers: Readonly<Record<string, string>>): string | undefined =>
  headers['request-id'] ?? headers['x-request-id'] ?? headers['x-amzn-requestid'];

function failedReply(
  { exchange, provider: { module, ref } }: Attempt,
  reply: WireReply & { readonly body: Uint8Array },
  now: number,
): GatewayError {
  exchange.routing.upstreamRequestId = requestIdOf(reply.headers);
  return replyError(module, reply, now, ref.file);
}

/** Opens an answer whose bytes go on as they arrive, and reads its first ones: without any it is a failed call. */
async function openBytes(
  attempt: Attempt,
  wire: WireRequest,
  { services, hooks }: RunningGeneration,
): Promise<ReplyOf<TranslatedSurface>> {
  const { clock } = services;
  const { status, headers, body } = await sendOpen(
    attempt,
    await outgoingRequest(attempt, wire, hooks),
    headersTimeoutOf(attempt, wire),
    services,
  );
  if (!isSuccess(attempt.exchange.surface, status)) {
    const words = await collectBody(body).catch(() => {
      attempt.cancellation.throwIfCancelled();
      return new Uint8Array(); // a failure's status speaks for itself
    });
    throw failedReply(attempt, { status, headers, body: words }, clock.now());
  }
  const contentType = headers['content-type'] ?? '';
  if (/json/i.test(contentType))
    throw unusableReply(errorIn(await collectBody(body)) ?? 'the answer is JSON, not bytes');
  const started = await startBody(body);
  if (!started) throw unusableReply('the answer is empty');
  return shapeAnswer(attempt, { contentType, body: started }, Math.floor(clock.now() / 1000));
}

/** What an error says that came with a good status. */
function errorIn(body: Buffer): string | undefined {
  return errorFrameMessage(tryParseJson(body.toString('utf8')));
}

/** Opens the provider's stream; resolves once its first chunk has been read. */
export async function openStream(attempt: Attempt, generation: RunningGeneration): Promise<StreamSession> {
  const { exchange, turn } = attempt;
  const { clock } = generation.services;
  const call = new LiveCall(attempt, generation.services);
  const wire = toWire(attempt, call, generation);
  const session = new StreamSession({
    relay: relayFor(attempt, call, generation),
    clock,
    cancellation: attempt.cancellation,
    idleMs: generation.services.streamIdleMs,
    onIdle: (idle_timeout_ms) =>
      generation.services.log.warn('stream response timed out waiting for next chunk', {
        target: attempt.target.virtualKey,
        idle_timeout_ms,
        trace_id: exchange.id,
      }),
    refuse: (status, headers, body) => failedReply(attempt, { status, headers, body }, clock.now()),
  });
  attempt.calledAt = clock.monotonic();
  try {
    await Promise.all([dispatchStream(attempt, wire, call, session, generation), session.started]);
  } catch (error) {
    session.release();
    throw error;
  }
  measureCall(attempt, generation);
  if (attempt.isSameWire) exchange.keepPrivate();
  generation.services.log.debug('stream request started', {
    model: shownModel(exchange.model, generation.services.redactor),
    provider: attempt.target.virtualKey,
    trace_id: exchange.id,
  });
  exchange.routing.reportedModel = session.relay.reportedModel;
  exchange.routing.upstreamRequestId = requestIdOf(session.headers);
  if (turn.openStream) return session; // what of it leaves, and when, only the code that asked for the turn knows
  exchange.delivery.readText = () => session.relay.assembly.text();
  exchange.measured.ttftMs = (session.firstChunkAt ?? clock.monotonic()) - exchange.arrivedAt;
  return session;
}

function headersTimeoutOf({ turn, provider: { module } }: Attempt, wire: WireRequest): number {
  return headersTimeoutMs(module.connection, answerTokensOf(wire, turn.request));
}

function unaryReply(
  attempt: Attempt,
  wire: WireRequest,
  call: CallInfo,
  generation: RunningGeneration,
): Promise<CollectedReply> {
  const { module } = attempt.provider;
  if (module.converse) return attempt.cancellation.race(converseUnary(attempt, wire, call, generation));
  return sendUnary(
    attempt,
    outgoingRequest(attempt, wire, generation.hooks),
    headersTimeoutOf(attempt, wire),
    generation.services,
  );
}

/** Providers that make several round trips, or none, do it here. */
async function converse(
  attempt: Attempt,
  wire: WireRequest,
  call: CallInfo,
  generation: RunningGeneration,
): Promise<WireReply> {
  const { module, ref } = attempt.provider;
  if (!module.converse) throw new Error(`${module.name} makes a single call`);
  try {
    return checkedReply(await module.converse(sender(attempt, generation), wire, call));
  } catch (thrown) {
    throw thrown instanceof GatewayError ? thrown : new ModuleFault(ref, 'converse', thrown);
  }
}

async function converseUnary(
  attempt: Attempt,
  wire: WireRequest,
  call: CallInfo,
  generation: RunningGeneration,
): Promise<CollectedReply> {
  try {
    const reply = await converse(attempt, wire, call, generation);
    return { ...reply, body: await collectBody(reply.body) };
  } catch (cause) {
    throw cause instanceof GatewayError ? cause : transportError(cause);
  }
}

async function dispatchStream(
  attempt: Attempt,
  wire: WireRequest,
  call: CallInfo,
  session: StreamSession,
  generation: RunningGeneration,
): Promise<void> {
  if (attempt.provider.module.converse) void pumpReply(converse(attempt, wire, call, generation), session);
  else sendStream(attempt, await outgoingRequest(attempt, wire, generation.hooks), session, generation.services);
}

/** `send` for providers that make several round trips. */
function sender(attempt: Attempt, { services, hooks }: RunningGeneration): Send {
  return async (wire, options): Promise<WireReply> => {
    const request = outgoingRequest(attempt, wire, hooks);
    if (options?.detached) return sendDetached(request, services);
    if (options?.stream) return sendOpen(attempt, await request, 0, services);
    return sendUnary(attempt, request, headersTimeoutOf(attempt, wire), services);
  };
}

/** These are answered with 200 alone; elsewhere any 2xx is an answer. Source: providers reference 4.4. */
const EXACTLY_OK: ReadonlySet<Surface> = new Set([
  'chat',
  'completions',
  'messages',
  'generate_content',
  'responses.translated',
  'images',
  'rerank',
]);

function isSuccess(surface: Surface, status: number): boolean {
  return status === 200 || (status > 200 && status < 300 && !EXACTLY_OK.has(surface));
}

function relayFor(attempt: Attempt, call: CallInfo, generation: RunningGeneration): Relay {
  const { exchange, turn } = attempt;
  const guards = guardsOf(attempt, generation);
  const source = sourceOf(attempt, call, guards, generation);
  const isVerbatim = source.speaks === 'client';
  const encoder = isVerbatim ? source.stream : encoderFor(attempt);
  return new Relay({
    encoder,
    source,
    guards,
    model: exchange.model,
    created: Math.floor(generation.services.clock.now() / 1000),
    stripUsage: exchange.stripsUsage,
    answer: exchange.wire.needsCallIds ? `${exchange.id} ${exchange.attempts}` : undefined,
    // Encoders of other wires keep parts of the answer until they can be written: the assembly bounds what they keep.
    assembles:
      generation.plugins.count > 0 ||
      turn.openStream !== undefined ||
      exchange.delivery.keepsText ||
      (!isVerbatim && encoder.frames === undefined),
  });
}

/** How the upstream's stream is read; in the client's own wire where it speaks that, and where guards can hold its events back if they must. */
function sourceOf(
  attempt: Attempt,
  call: CallInfo,
  guards: RelayGuards | undefined,
  { plugins }: RunningGeneration,
): RelaySource {
  const { exchange, turn, provider } = attempt;
  const { module, ref } = provider;
  const { openStream: open, editStream } = translatorOf(attempt) as ChatTranslator;
  const request = turn.request as ChatRequest;
  const common = { framing: module.framing ?? 'sse', module: ref } as const;
  const decode = typeof open === 'function' ? opened(ref, 'openStream', open, call, request) : undefined;
  if (!decode) {
    const edit = editStream && opened(ref, 'editStream', editStream, call, request);
    return { speaks: 'common', edit, ...common };
  }
  const stream = attempt.isSameWire ? exchange.wire.openSameWire?.(exchange) : undefined;
  const isHeldBack = guards !== undefined && (guards.holdsBack || guards.awaitsVerdict);
  if (!stream || (isHeldBack && !stream.withTexts)) return { speaks: 'native', decode, ...common };
  return { speaks: 'client', decode, stream, readsAsides: plugins.readsAnswers.has(exchange.surface), ...common };
}

/** What a provider makes for one stream: a function, or nothing. */
function opened<F>(
  ref: ModuleRef,
  functionName: string,
  open: (call: CallInfo, request: ChatRequest) => F | undefined,
  call: CallInfo,
  request: ChatRequest,
): F | undefined {
  try {
    const made = open(call, request);
    if (made === undefined || typeof made === 'function') return made;
    refusePromise(made);
    throw new Error('it returned no function');
  } catch (thrown) {
    throw providerError(ref, functionName, thrown);
  }
}

/** A frame of usage tells what the exchange has used, turns before this one included. */
function encoderFor({ exchange, turn }: Attempt): ClientStream {
  const encoder = turn.openStream ? turn.openStream(exchange) : exchange.wire.openStream(exchange);
  return turn.usageBefore ? new SummedUsage(encoder, turn.usageBefore) : encoder;
}

/** Present only when some plugin guards this stream. A guard is made per attempt: nothing of a failed one stays. */
function guardsOf(
  { exchange }: Attempt,
  { hooks, plugins, services: { clock } }: RunningGeneration,
): RelayGuards | undefined {
  exchange.stage = 'before_request'; // guards are made before there is an answer, also after an attempt that had begun one
  const guards = plugins.openStreamGuards(exchange);
  exchange.plugins.streamGuards = guards;
  if (!guards) return undefined;
  const filter: ChunkFilter = (chunks, moment) => {
    exchange.stage = 'after_request';
    const step = hooks.chunk.call(chunks, exchange, moment);
    if ('rejection' in step) throw guardRejection(step, exchange, { hooks, clock });
    return step;
  };
  return { filter, holdsBack: holdsBack(guards), awaitsVerdict: awaitsVerdict(guards) };
}
