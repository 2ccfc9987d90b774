import { ERRORS, type ChatReply, type Exchange } from '../../../host/contract/index.ts';
import type { ClientFailure } from '../../../host/wire/client-failure.ts';
import type { ClientStream, ClientWire, WireBody } from '../../../host/wire/client-wire.ts';
import { COMMON_WIRE } from '../../../host/wire/common-wire.ts';
import { AnswerBuilder } from './builder.ts';
import type { Asked } from './request.ts';
import { headOf } from './response-object.ts';
import { ResponsesStream } from './stream.ts';

function errorBody({ code, message }: ClientFailure): WireBody {
  return { contentType: 'application/json', body: JSON.stringify({ error: { message, type: ERRORS[code].type, code, param: null } }) };
}

/** How one request of this wire is answered: much of an answer repeats what was asked. */
export class ResponsesWire implements ClientWire {
  readonly error = errorBody;
  readonly noRoute = COMMON_WIRE.noRoute;
  readonly #asked: Asked;

  constructor(asked: Asked) {
    this.#asked = asked;
  }

  reply(exchange: Exchange): unknown {
    const builder = new AnswerBuilder(headOf(exchange), this.#asked, NO_EVENTS);
    builder.reply(exchange.reply as ChatReply);
    return builder.end();
  }

  openStream(exchange: Exchange): ClientStream {
    return new ResponsesStream(exchange, this.#asked);
  }
}

const NO_EVENTS = (): void => {};
