import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../contract/index.ts';

/** What the shell knows of one HTTP request, from its first byte to the access-log line. */
export interface RequestContext {
  /** 32 lower-case hex digits. */
  readonly id: string;
  /** Monotonic milliseconds. */
  readonly arrivedAt: number;
  /** The client's address, looked up behind trusted proxies. */
  address: string;
  /** CORS headers for this request's origin, as name, value, name, value. */
  corsHeaders: readonly string[];
  principal: Principal | undefined;
  /** Body bytes sent. */
  bytes: number;
  /** While the process drains, the connection ends with the reply. */
  readonly gateway: { readonly isDraining: boolean };
}

const contexts = Symbol('request context');

interface WithContext {
  [contexts]?: RequestContext;
}

export function bindContext(response: ServerResponse, context: RequestContext): void {
  (response as WithContext)[contexts] = context;
}

export function contextOf(response: ServerResponse): RequestContext {
  const context = (response as WithContext)[contexts];
  if (!context) throw new Error('the shell has not seen this request');
  return context;
}

/** Path without the query, as it was written: matching never decodes it. */
export function rawPath(request: IncomingMessage): string {
  const url = request.url ?? '/';
  const query = url.indexOf('?');
  const path = query < 0 ? url : url.slice(0, query);
  return path.startsWith('/') ? path : path.replace(/^https?:\/\/[^/]*/i, '') || '/';
}
