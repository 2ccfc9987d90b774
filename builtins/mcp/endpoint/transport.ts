/** What streamable HTTP asks of headers. Source: Model Context Protocol, revision 2025-11-25, "Transports", read 2026-11-22. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Settings } from '../../../host/environment/settings.ts';
import { encoded, within } from '../../../host/http/json-pieces.ts';
import { type RawAnswer, sendRaw } from '../../../host/http/raw-reply.ts';
import { type FlatHeaders, sendBody, UNBUFFERED } from '../../../host/http/reply.ts';
import type { Redactor } from '../../../host/log/redact.ts';
import type { PipelineServices } from '../../../host/pipeline/pipeline-services.ts';
import { KNOWN_VERSIONS } from '../link/rpc.ts';
import { CODES, type RequestId, RpcFault } from './message.ts';

/** How an answer is written: as it is, or as the one event of a stream. */
export type Form = 'json' | 'event';

/** Refuses what no message can make good: another site's page, a body of another type, a client that takes no form of an answer. */
export function checkHeaders({ headers }: IncomingMessage, settings: Pick<Settings, 'corsOrigins'>): Form {
  if (isForeign(headers, settings))
    throw refusal(403, 'requests of pages of this origin are not allowed: list it in CORS_ORIGINS');
  if (!isJson(headers)) throw refusal(415, 'the Content-Type must be application/json');
  const form = formOf(headers);
  if (!form) throw refusal(406, 'the client must accept application/json or text/event-stream');
  return form;
}

/** The versions differ in what clients may send; a client that says none speaks one of those in use. */
export function checkVersion(request: IncomingMessage, method: string | undefined): void {
  const version = request.headers['mcp-protocol-version'];
  if (version === undefined || method === 'initialize' || KNOWN_VERSIONS.has(String(version))) return;
  throw refusal(400, `the MCP-Protocol-Version is not supported, use one of ${[...KNOWN_VERSIONS].join(', ')}`);
}

export function sendAnswer(
  response: ServerResponse,
  form: Form,
  answer: { readonly id: RequestId; readonly result: object },
  headers: FlatHeaders = [],
): void {
  const text = JSON.stringify({ jsonrpc: '2.0', ...answer });
  if (form === 'json') sendBody(response, 200, 'application/json', text, headers);
  else sendEvent(response, 200, text, headers);
}

/** Sends the text of an answer piece after piece, as the client takes them. */
export function sendLongAnswer(
  response: ServerResponse,
  form: Form,
  pieces: AsyncIterable<string>,
  services: Pick<PipelineServices, 'clock' | 'relayed'>,
): Promise<void> {
  const answer: RawAnswer =
    form === 'json'
      ? { status: 200, headers: ['Content-Type', 'application/json'], body: encoded(pieces) }
      : {
          status: 200,
          headers: ['Content-Type', 'text/event-stream', ...UNBUFFERED],
          body: encoded(within('event: message\ndata: ', pieces, '\n\n')),
        };
  return sendRaw(response, answer, services);
}

/** Faults of the request itself are always JSON: their status says that no answer of the protocol follows. */
export function sendFault(
  response: ServerResponse,
  form: Form,
  { status, id, code, message }: RpcFault,
  redactor: Redactor,
): void {
  const text = JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: redactor.excerpt(message) } });
  if (form === 'json' || status !== 200) sendBody(response, status, 'application/json', text);
  else sendEvent(response, status, text);
}

function sendEvent(response: ServerResponse, status: number, text: string, headers: FlatHeaders = []): void {
  const body = `event: message\ndata: ${text}\n\n`;
  sendBody(response, status, 'text/event-stream', body, [...UNBUFFERED, ...headers]);
}

const refusal = (status: number, message: string): RpcFault => new RpcFault(CODES.transport, message, { status });

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/**
 * A page may call that is listed, or that was loaded from this gateway by a name that is always this machine's: any other name may
 * point here only since the page was loaded (DNS rebinding).
 */
function isForeign(
  { origin, host = '' }: IncomingHttpHeaders,
  { corsOrigins }: Pick<Settings, 'corsOrigins'>,
): boolean {
  if (origin === undefined || corsOrigins.includes(origin)) return false;
  const authority = /^https?:\/\/(.+)$/i.exec(origin)?.[1];
  return authority === undefined || authority.toLowerCase() !== host.toLowerCase() || !LOOPBACK.test(host);
}

/** A body whose type is not stated is read all the same. */
function isJson({ 'content-type': type }: IncomingHttpHeaders): boolean {
  return type === undefined || type.split(';')[0]?.trim().toLowerCase() === 'application/json';
}

function formOf({ accept = '*/*' }: IncomingHttpHeaders): Form | undefined {
  const types = accept.split(',').map((part) => part.split(';')[0]?.trim().toLowerCase());
  if (types.some((type) => type === 'application/json' || type === '*/*' || type === 'application/*')) return 'json';
  return types.some((type) => type === 'text/event-stream' || type === 'text/*') ? 'event' : undefined;
}
