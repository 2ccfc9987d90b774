import type { Socket } from 'node:net';
import { ProxyRefused } from './refusals.ts';

/** A proxy as calls use it. */
export interface Proxy {
  readonly protocol: 'http:' | 'https:';
  readonly hostname: string;
  /** Empty for the port of the protocol. */
  readonly port: string;
  /** The value of `Proxy-Authorization`; `undefined` without a user. */
  readonly authorization: string | undefined;
}

/** Bytes of the head of a proxy's answer. */
const MAX_HEAD_BYTES = 16 * 1024;
const HEAD_END = '\r\n\r\n';

/**
 * Asks a proxy, on a connection to it, for a way to `place` (host and port). Calls back once: with nothing when the connection
 * leads there, with the error otherwise. See RFC 9110 9.3.6.
 */
export function openTunnel(
  socket: Socket,
  place: string,
  {
    authorization,
    callback,
  }: { readonly authorization: string | undefined; readonly callback: (error?: Error) => void },
): void {
  let head = Buffer.alloc(0);
  const end = (error?: Error): void => {
    socket.off('data', read).off('error', fail).off('end', closed);
    callback(error);
  };
  const fail = (error: Error): void => end(error);
  const closed = (): void => end(new ProxyRefused('the proxy closed the connection without an answer'));
  const read = (bytes: Buffer): void => {
    head = Buffer.concat([head, bytes]);
    const length = head.indexOf(HEAD_END);
    if (length < 0) {
      if (head.length > MAX_HEAD_BYTES) end(new ProxyRefused(`the head of its answer exceeds ${MAX_HEAD_BYTES} bytes`));
      return;
    }
    const refusal = refusalIn(head.subarray(0, length).toString('latin1'));
    socket.pause();
    const rest = head.subarray(length + HEAD_END.length);
    if (!refusal && rest.length > 0) socket.unshift(rest);
    end(refusal);
  };
  socket.on('data', read).on('error', fail).on('end', closed);
  const credential = authorization === undefined ? '' : `Proxy-Authorization: ${authorization}\r\n`;
  socket.write(`CONNECT ${place} HTTP/1.1\r\nHost: ${place}\r\n${credential}\r\n`, 'latin1');
}

function refusalIn(head: string): ProxyRefused | undefined {
  const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |\r|$)/.exec(head)?.[1] ?? 0);
  if (status === 0) return new ProxyRefused('its answer is not HTTP/1');
  return status >= 200 && status < 300 ? undefined : new ProxyRefused(`it answered ${status} to CONNECT`, status);
}
