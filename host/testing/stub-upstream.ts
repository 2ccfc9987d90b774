import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { parseJson } from '../contract/index.ts';

/** A request as a stub upstream saw it. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  json(): Record<string, unknown>;
}

export type StubHandler = (request: SeenRequest, response: ServerResponse) => void | Promise<void>;

export interface StubServer {
  readonly url: string;
  /** Every request so far, in order of arrival. */
  readonly seen: SeenRequest[];
  /** Connections that are open now. */
  readonly sockets: ReadonlySet<Socket>;
  close(): Promise<void>;
}

/** A loopback server on a port of its own, until it is closed. */
export async function stubUpstream(handler: StubHandler): Promise<StubServer> {
  const seen: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const text = Buffer.concat(pieces).toString('utf8');
      const one: SeenRequest = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        text,
        json: () => parseJson(text) as Record<string, unknown>,
      };
      seen.push(one);
      void handler(one, response);
    });
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, sockets, close };
}

/** Sends a whole JSON reply. */
export function replyJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** Opens an event stream; write events with `sseEvent`. */
export function openSse(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
}

export function sseEvent(value: unknown): string {
  return `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;
}

/** An ordinary chat reply of the common wire. */
export function chatReply(content: string, more: object = {}): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'upstream-model',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
    ...more,
  };
}

/** The chunks of an ordinary streamed chat reply: role, one chunk per piece, finish, usage; without the end marker. */
export function chatChunks(pieces: readonly string[], more: object = {}): object[] {
  const head = {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'upstream-model',
    ...more,
  };
  const chunk = (delta: object, finish_reason: string | null = null): object => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason }],
  });
  return [
    chunk({ role: 'assistant', content: '' }),
    ...pieces.map((content) => chunk({ content })),
    chunk({}, 'stop'),
    { ...head, choices: [], usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 } },
  ];
}

/** Sends a whole streamed reply with its end marker. */
export function replyStream(response: ServerResponse, pieces: readonly string[]): void {
  openSse(response);
  response.end([...chatChunks(pieces), '[DONE]'].map(sseEvent).join(''));
}
