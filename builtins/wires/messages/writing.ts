import type { Exchange } from '../../../host/contract/index.ts';
import { messageOf } from './reply.ts';
import { VendorStream } from './same-wire-stream.ts';
import { MessagesStream } from './stream.ts';

const NOTHING = Object.freeze({});

/** The client's own body; nothing once a plugin's change has made it out of date. */
const sentBy = ({ clientRequest }: Exchange): Readonly<Record<string, unknown>> => clientRequest?.value ?? NOTHING;

export const reply = (exchange: Exchange): unknown => messageOf(exchange, sentBy(exchange));

export const replyWithoutCitations = (exchange: Exchange): unknown => messageOf(exchange, sentBy(exchange), NOTHING);

export const openStream = (exchange: Exchange): MessagesStream => new MessagesStream(exchange, sentBy(exchange));

export const openSameWire = (): VendorStream => new VendorStream();
