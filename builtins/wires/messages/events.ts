import { bytesOfText } from '../../../host/upstream/sse.ts';
import type { ClientFailure } from '../../../host/wire/client-failure.ts';
import type { Silence } from '../../../host/wire/client-wire.ts';
import { KEEP_ALIVE } from '../../../host/wire/sse-comment.ts';
import { errorBody } from './errors.ts';

export const CONTENT_TYPE = 'text/event-stream; charset=utf-8';

/** One event of the wire, as a byte string: clients drop those without an `event:` line. */
export function eventOf(type: string, members: object): string {
  return bytesOfText(`event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`);
}

/** An error as the last event. Open circuits and full queues pass. See docs/reference/ingress.md#failures-inside-a-stream. */
export function errorEvent(failure: ClientFailure, type?: string): string {
  const { code } = failure;
  const own = code === 'provider_saturated' || code === 'upstream_unavailable' ? 'overloaded_error' : undefined;
  return bytesOfText(`event: error\ndata: ${JSON.stringify(errorBody(failure, type ?? own))}\n\n`);
}

export const PING = eventOf('ping', {});

/** Says that the answer goes on. Before its first event clients take comments only. See docs/proxies.md#keep-alives. */
export const keepAlive = ({ hasBegun }: Silence): string => (hasBegun ? PING : KEEP_ALIVE);
