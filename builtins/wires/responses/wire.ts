import { type ChatReply, ERRORS, type Exchange } from '../../../host/contract/index.ts';
import type { ClientFailure } from '../../../host/wire/client-failure.ts';
import type { ClientStream, ClientWire, WireBody } from '../../../host/wire/client-wire.ts';
import { retryHeaders } from '../errors.ts';
import { AnswerBuilder } from './builder.ts';
import type { Asked } from './request.ts';
import { headOf } from './response-object.ts';
import { ResponsesStream } from './stream.ts';

function errorBody({ code, message }: ClientFailure, members: object): WireBody {
  return { contentType: 'application/json', body: JSON.stringify({ error: { message, type: ERRORS[code].type, code, ...members } }) };
}

const PARAM = { param: null };

/**
 * The wire of the path, for all that is answered before it is known where a request goes. Where nothing is translated, errors are those
 * of the common wire.
 */
export function pathWire(translates: () => boolean): ClientWire {
  const error = (failure: ClientFailure): WireBody => errorBody(failure, translates() ? PARAM : {});
  return {
    error,
    noRoute: error,
    errorHeaders: retryHeaders,
    reply: ({ reply }) => reply,
    openStream: () => { throw new Error('a streamed answer of this path has a wire of its own'); },
  };
}

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

  openStream(exchange: Exchange): ClientStream {
    return new ResponsesStream(exchange, this.#asked);
  }
}

const NO_EVENTS = (): void => {};
