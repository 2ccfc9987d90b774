/** One streamed answer beside chat: its events go on as they come, or it is read whole where it must be, or came whole. */
import {
  type ReplyOf,
  type StreamedSurface,
  type TranslatedSurface,
  tryParseJson,
  type WireReply,
  type WireRequest,
} from '../../contract/index.ts';
import { EventRelay } from '../../answer/events/event-relay.ts';
import type { StreamSession } from '../../answer/stream.ts';
import { collectBody, pumpReply } from '../../upstream/reply-body.ts';
import { otherFacts } from '../turns/other-facts.ts';
import type { RunningGeneration } from '../running-generation.ts';
import type { Attempt } from './attempt.ts';
import { measureCall } from './attempt-lifecycle.ts';
import { jsonError, readUnary } from './call-unary.ts';
import { converse } from './converse.ts';
import { LiveCall, translatorOf } from './live-call.ts';
import { noteStarted, sessionOf } from './open-stream.ts';
import { outgoingRequest } from './outgoing-request.ts';
import { noteHead } from './reply-status.ts';
import { sendOpen } from './send-attempt.ts';
import { toWire } from './translate.ts';

/**
 * Opens the provider's answer to a request for events. A stream comes back with its first event read. An answer that came whole
 * all the same, or that a guardrail must judge before any of it leaves, is a whole reply.
 */
export async function openEvents(
  attempt: Attempt,
  generation: RunningGeneration,
): Promise<StreamSession<EventRelay> | ReplyOf<TranslatedSurface>> {
  const { exchange } = attempt;
  const { clock } = generation.services;
  const surface = exchange.surface as StreamedSurface; // routing has left no other one
  const call = new LiveCall(attempt, generation.services);
  const wire = toWire(attempt, call, generation);
  attempt.calledAt = clock.monotonic();
  if (attempt.turn.isOwn) exchange.delivery.early?.start();
  exchange.delivery.isWhole = false;
  exchange.delivery.isHeld = false;
  const reply = await dispatch(attempt, wire, call, generation);
  if (reply.status !== 200 || !EVENTS.test(typeOf(reply))) return readWhole(attempt, reply, call, clock.now());
  const isHeld = surface === 'audio.transcriptions' && generation.plugins.judgesAnswers.has(surface);
  const relay = new EventRelay({
    surface,
    encoder: exchange.wire.openEvents?.() ?? exchange.wire.openStream(exchange),
    isHeld,
    factsOf: (answer) => otherFacts(exchange, answer),
  });
  const session = sessionOf(attempt, relay, generation);
  void pumpReply(Promise.resolve(reply), session);
  try {
    await session.started;
    noteHead(attempt, session.headers);
    if (isHeld) return await readHeld(attempt, session);
  } catch (error) {
    session.release();
    throw error;
  }
  measureCall(attempt, generation);
  noteStarted(attempt, generation);
  exchange.measured.ttftMs = (session.firstChunkAt ?? clock.monotonic()) - exchange.arrivedAt;
  return session;
}

const EVENTS = /^\s*text\/event-stream\b/i;
const typeOf = ({ headers }: WireReply): string => headers['content-type'] ?? '';

/** A failure, or an answer of a service that does not stream this model. */
async function readWhole(
  attempt: Attempt,
  reply: WireReply,
  call: LiveCall,
  now: number,
): Promise<ReplyOf<TranslatedSurface>> {
  const isAnswer = reply.status === 200;
  const body = await collectBody(reply.body).catch((error: unknown) => {
    attempt.cancellation.throwIfCancelled();
    if (isAnswer) throw error;
    return Buffer.alloc(0); // a failure's status speaks for itself
  });
  if (isAnswer && translatorOf(attempt).relaysBytes && /json/i.test(typeOf(reply)))
    throw jsonError(tryParseJson(body.toString('utf8')));
  attempt.exchange.delivery.isWhole = true;
  return readUnary(attempt, { ...reply, body }, call, now);
}

function dispatch(
  attempt: Attempt,
  wire: WireRequest,
  call: LiveCall,
  generation: RunningGeneration,
): Promise<WireReply> {
  const { services, hooks } = generation;
  if (attempt.provider.module.converse) return attempt.cancellation.race(converse(attempt, wire, call, generation));
  return Promise.resolve(outgoingRequest(attempt, wire, hooks)).then((request) =>
    sendOpen(attempt, request, services.streamIdleMs, services),
  );
}

/** Reads an answer to its end. Nothing of it has left: what breaks it off is a failed call. */
async function readHeld(attempt: Attempt, session: StreamSession<EventRelay>): Promise<ReplyOf<TranslatedSurface>> {
  const { delivery, plugins } = attempt.exchange;
  delivery.isWhole = true;
  delivery.isHeld = true;
  const error = await session.ended;
  session.release();
  if (error?.code === 'response_rejected') plugins.rejectedBy = 'gateway';
  if (error) throw error;
  return session.relay.reply();
}
