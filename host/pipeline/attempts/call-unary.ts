/** One whole answer of a provider: the request in its wire goes out, and the reply becomes one of the common wire. */
import {
  type CallInfo,
  type GatewayError,
  type ReplyOf,
  type TranslatedSurface,
  tryParseJson,
  type WireRequest,
} from '../../contract/index.ts';
import { faultInAnswer, faultInUseless, unusableReply } from '../../upstream/fault.ts';
import { collectBody, startBody } from '../../upstream/reply-body.ts';
import type { CollectedReply } from '../../upstream/upstream-call.ts';
import type { RunningGeneration } from '../running-generation.ts';
import type { Attempt } from './attempt.ts';
import { converseUnary } from './converse.ts';
import { headersTimeoutOf } from './headers-timeout.ts';
import { LiveCall, translatorOf } from './live-call.ts';
import { outgoingRequest } from './outgoing-request.ts';
import { BufferedReply, readReply, shapeAnswer } from './read-reply.ts';
import { failedReply, isSuccess, noteHead } from './reply-status.ts';
import { keepReply } from './same-wire.ts';
import { sendOpen, sendUnary } from './send-attempt.ts';
import { toWire } from './translate.ts';

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

/** The answer that a collected reply is; throws for one that is a failure. */
export function readUnary(
  attempt: Attempt,
  reply: CollectedReply,
  call: CallInfo,
  now: number,
): ReplyOf<TranslatedSurface> {
  if (!isSuccess(attempt.exchange.surface, reply.status)) throw failedReply(attempt, reply, now);
  noteHead(attempt, reply.headers);
  const buffered = new BufferedReply(reply);
  const answer = readReply(attempt, buffered, call, Math.floor(now / 1000));
  return attempt.isSameWire ? keepReply(attempt, buffered, answer) : answer;
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
  if (/json/i.test(contentType)) throw jsonError(tryParseJson((await collectBody(body)).toString('utf8')));
  const started = await startBody(body);
  if (!started) throw unusableReply('the answer is empty');
  return shapeAnswer(attempt, { contentType, body: started }, Math.floor(clock.now() / 1000));
}

/** JSON where bytes were to come, with a good status all the same. */
export function jsonError(body: unknown): GatewayError {
  return faultInAnswer(body) ?? faultInUseless(body) ?? unusableReply('the answer is JSON, not bytes');
}
