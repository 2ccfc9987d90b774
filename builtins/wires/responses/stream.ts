import type { ChatChunk, ErrorCode, Exchange, Fields } from '../../../host/contract/index.ts';
import { bytesOfText } from '../../../host/upstream/sse.ts';
import { type ClientFailure, commonMessage } from '../../../host/wire/client-failure.ts';
import type { ClientStream, Silence } from '../../../host/wire/client-wire.ts';
import { KEEP_ALIVE, sseComment } from '../../../host/wire/sse-comment.ts';
import { AnswerBuilder } from './builder.ts';
import type { Asked } from './request.ts';
import { type AnswerHead, headOf } from './response-object.ts';

/** One streamed answer: numbered events, the last of which holds the whole answer. See docs/reference/ingress.md#responses-events. */
export class ResponsesStream implements ClientStream {
  readonly contentType = 'text/event-stream; charset=utf-8';
  readonly frames = undefined;
  readonly comment = sseComment;
  readonly #head: AnswerHead;
  readonly #asked: Asked;
  readonly #builder: AnswerBuilder;
  #events = 0;
  #out = '';

  constructor(exchange: Exchange, asked: Asked) {
    this.#head = headOf(exchange);
    this.#asked = asked;
    this.#builder = new AnswerBuilder(this.#head, asked, this.#emit);
  }

  chunk(chunk: ChatChunk): string {
    this.#begin();
    this.#builder.chunk(chunk);
    return this.#take();
  }

  end(): string {
    this.#begin();
    const response = this.#builder.end();
    this.#emit(`response.${String(response['status'])}`, { response });
    return this.#take();
  }

  /** Clients that wait for events, such as Codex, get one a minute; before the first one of the answer helpers of SDKs take none. */
  keepAlive({ hasBegun, isMinute }: Silence): string {
    if (!hasBegun || !isMinute) return KEEP_ALIVE;
    this.#emit('keepalive', {});
    return this.#take();
  }

  /** Clients end only on an answer that says how it ended, and take one that never began for a broken stream. */
  error(failure: ClientFailure, isFirst = false): string {
    const builder = isFirst ? new AnswerBuilder(this.#head, this.#asked, this.#emit) : this.#builder;
    if (isFirst) this.#events = 0;
    this.#out = '';
    this.#begin();
    this.#emit('response.failed', { response: builder.failed(failedError(failure)) });
    return this.#take();
  }

  #begin(): void {
    if (this.#events > 0) return;
    const response = this.#builder.begun();
    this.#emit('response.created', { response });
    this.#emit('response.in_progress', { response });
  }

  readonly #emit = (type: string, members: Fields): void => {
    this.#out += bytesOfText(
      `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#events, ...members })}\n\n`,
    );
    this.#events += 1;
  };

  #take(): string {
    const out = this.#out;
    this.#out = '';
    return out;
  }
}

const BY_REASON: ReadonlyMap<ClientFailure['reason'], string> = new Map([
  ['context_length', 'context_length_exceeded'],
  ['content_policy', 'invalid_prompt'],
  ['billing', 'server_error'], // only the budget of the client's own key is the client's quota
]);

const CODES: ReadonlyMap<ErrorCode, string> = new Map([
  ['request_rejected', 'invalid_prompt'],
  ['response_rejected', 'invalid_prompt'],
  ['insufficient_quota', 'insufficient_quota'],
  ['rate_limit_exceeded', 'rate_limit_exceeded'],
  ['provider_saturated', 'rate_limit_exceeded'],
]);

/** By these codes clients decide whether to ask again. See docs/reference/ingress.md#failures-inside-a-stream. */
function failedError(failure: ClientFailure): Fields {
  const { code, reason } = failure;
  return { code: BY_REASON.get(reason) ?? CODES.get(code) ?? 'server_error', message: commonMessage(failure) };
}
