import type { IncomingMessage } from 'node:http';
import { tryParseJson } from '../contract/json/json.ts';
import { isFields } from '../contract/index.ts';
import { FORWARDED_HEADER, type Forwarded } from '../http/arrivals.ts';

const HEX_32 = /^[0-9a-f]{32}$/;

/** What a worker says of a request, as a header. */
export function forwardedText({ id, address, listener }: Forwarded): string {
  return Buffer.from(JSON.stringify({ id, address, listener })).toString('base64url');
}

/** `undefined` where it is not there, or is not what a worker writes. */
export function readForwarded({ headers }: Pick<IncomingMessage, 'headers'>): Forwarded | undefined {
  const text = headers[FORWARDED_HEADER];
  const said: unknown = typeof text === 'string' ? tryParseJson(Buffer.from(text, 'base64url').toString()) : undefined;
  if (!isFields(said)) return undefined;
  const { id, address, listener } = said;
  if (typeof id !== 'string' || !HEX_32.test(id) || typeof address !== 'string') return undefined;
  return { id, address, listener: listener === 'data' ? 'data' : undefined };
}
