import { type ChatChunk, type ErrorCode, type ErrorEnvelope, ERRORS } from '../contract/index.ts';
import { bytesOfText } from '../upstream/sse.ts';
import { type ClientFailure, commonMessage, repeatHeaders } from './client-failure.ts';
import type { ClientStream, ClientWire } from './client-wire.ts';
import { dataEvent, KnownFrames } from './known-frames.ts';
import { KEEP_ALIVE, sseComment } from './sse-comment.ts';

/** The wire of every path that no other one claims (docs/errors.md, docs/reference/data-plane.md#answers). */
export const COMMON_WIRE: ClientWire = {
  runsTools: true,
  needsCallIds: true,
  error: (failure) => ({
    contentType: 'application/json',
    body: JSON.stringify(envelope(failure.code, commonMessage(failure))),
  }),
  errorHeaders: repeatHeaders,
  noRoute: () => ({ contentType: 'text/plain; charset=utf-8', body: '404 page not found' }),
  reply: ({ reply }) => reply,
  openStream: () => new CommonStream(),
  openEvents: () => new PassedEvents(),
};

/** An event stream of chunks, with an end marker or an error as its last event. */
export class CommonStream implements ClientStream {
  readonly contentType = 'text/event-stream';
  readonly frames: KnownFrames | undefined = new KnownFrames();

  chunk(chunk: ChatChunk): string {
    return eventOf(chunk);
  }

  end(): string {
    return 'data: [DONE]\n\n';
  }

  keepAlive(): string {
    return KEEP_ALIVE;
  }

  comment(text: string): string {
    return sseComment(text);
  }

  /** Clients of this wire learn only whether the stream ended because time was up, or for any other reason. */
  error(failure: ClientFailure, isFirst = false): string {
    const { code } = failure;
    const isLate = code === 'stream_timeout' || (isFirst && code === 'gateway_timeout');
    return eventOf(envelope(isLate ? 'stream_timeout' : 'stream_error', commonMessage(failure)));
  }
}

/** Events of a provider, as they came: they end where they end there. */
class PassedEvents extends CommonStream {
  override readonly frames = undefined;

  override end(): string {
    return '';
  }
}

function envelope(code: ErrorCode, message: string): ErrorEnvelope {
  return { error: { message, type: ERRORS[code].type, code } };
}

function eventOf(value: unknown): string {
  return dataEvent(bytesOfText(JSON.stringify(value)));
}
