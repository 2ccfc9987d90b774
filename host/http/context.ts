import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GatewayError } from '../contract/index.ts';
import type { HostPrincipal, KeyLimits } from '../common/host-principal.ts';
import type { EndedKey } from '../stores/credential-standing.ts';
import type { TraceContext } from '../common/trace-context.ts';
import type { ClientWire } from '../wire/client-wire.ts';
import type { Ending } from './body/leftovers.ts';
import type { Outbox } from './outbox.ts';
import type { ProtectedPath } from './protection.ts';

/** What answering needs of the host: how a connection ends, and by what replies leave. */
export interface AnsweringHost extends Ending {
  readonly isDraining: boolean;
  readonly outbox: Outbox;
}

/** A path that some server may read as that of a route, though the router does not: no route serves it. */
export interface Misspelling {
  /** What it is read as. */
  readonly path: string;
  readonly error: GatewayError;
}

/** `data` serves models and probes, `admin` everything. */
export type ListenerName = 'data' | 'admin';

/** What the shell knows of one HTTP request, from its first byte to the access-log line. */
export interface RequestContext {
  /** 32 lower-case hex digits. */
  readonly id: string;
  readonly request: IncomingMessage;
  /** The caller's trace, where it sent a valid `traceparent`. */
  readonly trace: TraceContext | undefined;
  /** Monotonic milliseconds. */
  readonly arrivedAt: number;
  /** The client's address, looked up behind trusted proxies. */
  address: string;
  /** CORS headers for this request's origin, as name, value, name, value. */
  corsHeaders: readonly string[];
  /** What the client speaks, by the path it asked for. */
  wire: ClientWire;
  /** What protects the path, if anything does. */
  protectedBy: ProtectedPath | undefined;
  /** Set where the path is another spelling of a route's: what is answered once the credential is known. */
  misspelling: Misspelling | undefined;
  /** Which of two listeners it came to; `undefined` where one serves everything. */
  listener: ListenerName | undefined;
  /** The listener does not serve its path: a plain 404, whatever the credential. */
  isElsewhere: boolean;
  /** A probe is neither logged nor limited. */
  isProbe: boolean;
  principal: HostPrincipal | undefined;
  /** What binds the request: the limits of its credential, with what its accounts and tags say. */
  limits: KeyLimits | undefined;
  /** Set by authentication: a surface serves no request without it. */
  isAdmitted: boolean;
  /** Digest of the credential that let it in, where that may end before the request does. */
  digest: string | undefined;
  /** Its place among the running requests; negative where it is not one of them. */
  place: number;
  /** How it is served: where a connection leaves HTTP, where an answer is events, and else. */
  kind: 'unary' | 'stream' | 'tunnel';
  /** Set once, when its credential has ended: nothing more is done for it. */
  ended: GatewayError | undefined;
  /** Called when `ended` is set; set by the code that serves it. Until then its body may be read (`stopReading`). */
  onEnded: ((cause: GatewayError) => void) | undefined;
  /** Its answer has left, or its connection is closed. */
  isOver: boolean;
  /** Called when the connection of the request, or its reply, is over; set by the code that serves it. */
  onClose: (() => void) | undefined;
  /** A key that it came with, which is known and no longer counts. */
  endedKey: EndedKey | undefined;
  /** What it was answered with, where that was an error without an exchange. */
  refusal: GatewayError | undefined;
  /** The pipeline has taken it over, and says how it ends. */
  hasExchange: boolean;
  /** The model that was read of a request before it was refused. */
  askedModel: string | undefined;
  /** Credentials that stood in the query, where the wire has a place for them there. */
  queryKeys: readonly string[] | undefined;
  /** Body bytes sent. */
  bytes: number;
  /** The connection ends with this answer: where its requests begin and end is in doubt. */
  isLast: boolean;
  /** `sent`: on its way to the primary, which answers it and leaves its line. `taken`: it came from a worker. */
  forwarding: 'sent' | 'taken' | undefined;
  /** While the process drains, the connection ends with the reply; replies leave by its outbox. */
  readonly gateway: AnsweringHost;
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

/** What says which path a request is for. */
export type RequestTarget = Pick<IncomingMessage, 'url' | 'method'>;

/** Path without the query, as it was written: matching never decodes it. */
export function rawPath({ url = '/' }: Pick<IncomingMessage, 'url'>): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

/** What some parser in the chain reads as the end of a path, or as a slash: no path that may be trusted holds any. */
const AMBIGUOUS = /[\\#\s\x00-\x20\x7f\u00a0\ufeff]/;

/** What RFC 9112 3.2 allows as a host, names without userinfo, and addresses; and a port. */
const AUTHORITY = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** Whether this is a host, with or without a port. Several `Host` lines arrive joined by a comma and a blank, which it may not hold. */
export function isAuthority(text: string): boolean {
  return AUTHORITY.test(text);
}

/**
 * Makes every later reader see one and the same path: an absolute target loses its scheme and host. False for a target
 * that two parsers might read differently; such a request must be refused.
 */
export function normalizeTarget(request: RequestTarget): boolean {
  const url = request.url ?? '';
  if (AMBIGUOUS.test(url)) return false;
  if (url.startsWith('/') || url === '*') return true;
  const [, host = '', rest = ''] = /^https?:\/\/([^/?]+)(.*)$/i.exec(url) ?? [];
  if (host === '' || !isAuthority(host)) return false;
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
  return true;
}
