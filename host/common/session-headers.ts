import type { IncomingHttpHeaders } from 'node:http';

/**
 * How clients name the session that a request belongs to; the first that is not empty counts, on every surface. The one list for whatever looks at
 * sessions. See docs/reference/ingress.md#request-headers.
 */
export const SESSION_HEADERS = [
  'x-gateway-session',
  'x-session-id',
  'x-claude-code-session-id',
  'session-id',
  'session_id',
] as const;

export function sessionIn(headers: IncomingHttpHeaders = {}): string | undefined {
  for (const name of SESSION_HEADERS) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}
