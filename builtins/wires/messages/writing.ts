import type { Exchange } from '../../../host/contract/index.ts';
import type { ClientWire } from '../../../host/wire/client-wire.ts';
import { messageOf } from './reply.ts';
import { VendorStream } from './same-wire-stream.ts';
import { MessagesStream } from './stream.ts';

const NOTHING = Object.freeze({});

/** The client's own body; nothing once a plugin's change has made it out of date. */
const sentBy = ({ clientRequest }: Exchange): Readonly<Record<string, unknown>> => clientRequest?.value ?? NOTHING;

/** How answers are written. */
export const writing = {
  reply: (exchange: Exchange) => messageOf(exchange, sentBy(exchange)),
  openStream: (exchange: Exchange) => new MessagesStream(exchange, sentBy(exchange)),
  openSameWire: () => new VendorStream(),
} satisfies Partial<ClientWire>;
