import type { Exchange } from '../../../host/contract/index.ts';
import type { ClientFailure } from '../../../host/wire/client-failure.ts';
import type { ClientWire, WireBody } from '../../../host/wire/client-wire.ts';
import { retryHeaders } from '../errors.ts';
import { errorBody } from './errors.ts';
import { messageOf } from './reply.ts';
import { VendorStream } from './same-wire-stream.ts';
import { MessagesStream } from './stream.ts';

const NOTHING = Object.freeze({});

/** The client's own body; nothing once a plugin's change has made it out of date. */
const sentBy = ({ clientRequest }: Exchange): Readonly<Record<string, unknown>> => clientRequest?.value ?? NOTHING;

const errorReply = (failure: ClientFailure): WireBody => ({ contentType: 'application/json', body: JSON.stringify(errorBody(failure)) });

/** What clients of Anthropic's Messages API are answered with. */
export const MESSAGES_WIRE: ClientWire = {
  error: errorReply,
  noRoute: errorReply,
  reply: (exchange) => messageOf(exchange, sentBy(exchange)),
  openStream: (exchange) => new MessagesStream(exchange, sentBy(exchange)),
  openSameWire: () => new VendorStream(),
  credentials: ['bearer', { header: 'x-api-key' }],
  namesScheme: false,
  headers: (id) => ['request-id', id],
  errorHeaders: retryHeaders,
};
