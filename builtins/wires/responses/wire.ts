import type { ChatReply, Exchange } from '../../../host/contract/index.ts';
import type { ClientFailure } from '../../../host/wire/client-failure.ts';
import type { ClientStream, ClientWire, WireBody } from '../../../host/wire/client-wire.ts';
import { retryHeaders } from '../errors.ts';
import { AnswerBuilder } from './builder.ts';
import { errorBody, PARAM } from './path-wire.ts';
import type { Asked } from './request.ts';
import { headOf } from './response-object.ts';
import { ResponsesStream } from './stream.ts';

/** How one request that was translated is answered: much of an answer repeats what was asked. */
export class ResponsesWire implements ClientWire {
  readonly errorHeaders = retryHeaders;
  readonly #asked: Asked;

  constructor(asked: Asked) {
    this.#asked = asked;
  }

  error(failure: ClientFailure): WireBody {
    return errorBody(failure, PARAM);
  }

  noRoute(failure: ClientFailure): WireBody {
    return errorBody(failure, PARAM);
  }

  reply(exchange: Exchange): unknown {
    const builder = new AnswerBuilder(headOf(exchange), this.#asked, NO_EVENTS);
    builder.reply(exchange.reply as ChatReply);
    return builder.end();
  }

  /** The vendor says this one so, and Codex shortens its history on it. Source: Codex 0.169, run 2026-11-26. */
  failsInStream({ reason }: ClientFailure): boolean {
    return reason === 'context_length';
  }

  openStream(exchange: Exchange): ClientStream {
    return new ResponsesStream(exchange, this.#asked);
  }
}

const NO_EVENTS = (): void => {};
