import type { ServerResponse } from 'node:http';
import { replayReply, replayWhole } from '../answer/replay.ts';
import { wholeEvents } from '../answer/events/whole-events.ts';
import type { AnswerStream } from '../answer/stream.ts';
import { type ChatReply, type GatewayError, type RawReply, SURFACES } from '../contract/index.ts';
import type { Redactor } from '../log/redact.ts';
import type { LiveExchange } from '../pipeline/live-exchange.ts';
import { failReply, finishStream } from '../pipeline/run.ts';
import type { RunningGeneration } from '../pipeline/running-generation.ts';
import { failureOf, inStream, wordsOf } from '../wire/client-failure.ts';
import type { ClientStream } from '../wire/client-wire.ts';
import { attributionHeaders, replyHeaders, servedBy } from './attribution.ts';
import { contextOf } from './context.ts';
import { type RawAnswer, sendRaw } from './raw-reply.ts';
import { sendBody, sendFailure, sendJson } from './reply.ts';
import { SseWriter } from './sse-writer.ts';

/** Sends a whole answer: as JSON, as the bytes it came in, or replayed as a stream. A promise only for bytes that still arrive. */
export function sendReply(
  { write }: { readonly write?: (exchange: LiveExchange) => unknown },
  exchange: LiveExchange,
  generation: RunningGeneration,
  response: ServerResponse,
): Promise<void> | undefined {
  if (exchange.streaming) {
    const stream = exchange.wire.openStream(exchange);
    const writer = new SseWriter(response, generation.services.clock);
    begin(writer, stream, exchange, generation.services.redactor);
    writer.end(SURFACES[exchange.surface].isChat ? replayed(exchange, stream) : wholeEvents(exchange));
    exchange.measured.sentBytes = contextOf(response).bytes;
    return undefined;
  }
  const headers = replyHeaders(exchange, generation.services.redactor);
  if (SURFACES[exchange.surface].isRaw) {
    const { contentType, body } = exchange.reply as RawReply;
    return sendRelayed(
      { status: 200, headers: ['Content-Type', contentType, ...headers], body },
      exchange,
      generation,
      response,
    );
  }
  if (exchange.clientReply) {
    sendBody(response, 200, 'application/json', exchange.clientReply.body, headers);
    return undefined;
  }
  sendJson(response, 200, write?.(exchange) ?? exchange.wire.reply(exchange), headers);
  return undefined;
}

/** Writes the headers of a streamed answer; where they left before its first chunk, who serves it is a comment. */
function begin(writer: SseWriter, encoder: ClientStream, exchange: LiveExchange, redactor: Redactor): void {
  const { early } = exchange.delivery;
  if (early?.isOpen) writer.note(encoder.comment?.(servedBy(exchange, redactor, early.shownIgnored)) ?? '');
  else writer.open(encoder.contentType, replyHeaders(exchange, redactor));
}

/** A whole answer in the chunks of a stream. */
function replayed({ reply: given, delivery, stripsUsage }: LiveExchange, stream: ClientStream): string {
  const reply = given as ChatReply;
  const chunks = delivery.inOneChunk ? [replayWhole(reply, stripsUsage)] : replayReply(reply, stripsUsage);
  return chunks.map((chunk) => stream.chunk(chunk)).join('') + stream.end();
}

/** Sends bytes as they arrive. Where they break off, `on_error` hears of it. */
export async function sendRelayed(
  answer: RawAnswer,
  exchange: LiveExchange,
  generation: RunningGeneration,
  response: ServerResponse,
): Promise<void> {
  try {
    await sendRaw(response, answer, generation.services);
  } catch (cause) {
    throw await failReply(exchange, exchange.cancellation.cause ?? cause, generation);
  } finally {
    exchange.measured.sentBytes = contextOf(response).bytes;
  }
}

/** Sends a streamed answer to its end, or to what ended it. */
export async function sendStream(
  exchange: LiveExchange,
  stream: AnswerStream,
  generation: RunningGeneration,
  response: ServerResponse,
): Promise<void> {
  const { encoder } = stream;
  const {
    services: { clock, redactor },
    streamTimes: { keepAliveMs },
  } = generation;
  const writer = new SseWriter(response, clock);
  writer.onDrain = () => stream.resume();
  begin(writer, encoder, exchange, redactor);
  if (keepAliveMs !== undefined) writer.keepAlive(encoder, keepAliveMs);
  stream.attach(writer);
  const error = await finishStream(exchange, stream, generation);
  exchange.measured.sentBytes = contextOf(response).bytes;
  const held = stream.takeHeld();
  const isVerbatim = exchange.routing.isSameWire;
  if (response.destroyed) writer.stop();
  else
    writer.end(
      error
        ? encoder.error(
            failureOf(inStream(error), redactor.excerpt(wordsOf(error)), exchange.id, isVerbatim),
            !writer.hasBegun,
          )
        : held + encoder.end(),
    );
  stream.release();
}

/**
 * Sends the error of an exchange that has no answer: in the wire of the request, and as a stream where that was opened
 * before its first chunk, or where the wire says this error so.
 */
export function sendExchangeError(
  exchange: LiveExchange,
  error: GatewayError,
  { services: { clock, redactor } }: RunningGeneration,
  response: ServerResponse,
): void {
  const { wire, streaming, routing, delivery } = exchange;
  const words = redactor.excerpt(error.message, error.messageLimit);
  const isOpen = delivery.early?.isOpen === true;
  const failure = failureOf(isOpen ? inStream(error) : error, words, contextOf(response).id, routing.isSameWire);
  const headers = attributionHeaders(exchange, redactor);
  if (!isOpen && (!streaming || response.headersSent || wire.failsInStream?.(failure) !== true)) {
    sendFailure(response, failure, headers);
    return;
  }
  const stream = wire.openStream(exchange);
  const writer = new SseWriter(response, clock);
  if (!isOpen) writer.open(stream.contentType, headers);
  writer.end(stream.error(failure, true));
}
