import { ERRORS } from '../../../host/contract/index.ts';
import { type ClientFailure, commonMessage } from '../../../host/wire/client-failure.ts';
import type { ClientWire, WireBody } from '../../../host/wire/client-wire.ts';
import { retryHeaders } from '../errors.ts';

export function errorBody(failure: ClientFailure, members: object): WireBody {
  const { code } = failure;
  return {
    contentType: 'application/json',
    body: JSON.stringify({ error: { message: commonMessage(failure), type: ERRORS[code].type, code, ...members } }),
  };
}

/** What an error of the API says beside the words of the common format. */
export const PARAM = { param: null };

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
    openStream: () => {
      throw new Error('a streamed answer of this path has a wire of its own');
    },
  };
}
