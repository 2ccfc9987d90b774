import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export interface Called {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** One server that stands for all vendors, and answers on the common wire. */
export interface Vendor {
  readonly url: string;
  /** What came in since the last time. */
  called(): readonly Called[];
  close(): void;
}

const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

export async function openVendor(): Promise<Vendor> {
  let seen: Called[] = [];
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const { method = '', url: path = '', headers } = request;
      seen.push({ method, path, headers, body });
      answer(path, { body, response });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    called: () => {
      const done = seen;
      seen = [];
      return done;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

function answer(path: string, { body, response }: { readonly body: string; readonly response: ServerResponse }): void {
  const json = (status: number, value: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };
  const model = /"model":"([^"]*)"/.exec(body)?.[1] ?? 'none';
  if (model === 'n') return json(500, { error: { message: 'the vendor is broken', type: 'server_error' } });
  if (model === 'gpt-4o-mini') return json(400, { error: { message: 'too long', code: 'context_length_exceeded' } });
  if (path.endsWith('/embeddings'))
    return json(200, {
      object: 'list',
      model,
      data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
      usage: USAGE,
    });
  if (path.endsWith('/images/generations'))
    return json(200, { created: 1, data: [{ url: 'https://images.example/1.png' }] });
  if (/"stream":\s*true/.test(body)) return stream(model, response);
  const message = { role: 'assistant', content: 'alpha of the vendor' };
  return json(200, {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: USAGE,
  });
}

function stream(model: string, response: ServerResponse): void {
  const chunk = (delta: object, finish_reason: string | null, more = {}): string =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model, choices: [{ index: 0, delta, finish_reason }], ...more })}\n\n`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const first = chunk({ role: 'assistant', content: 'alpha' }, null);
  response.end(`${first}${chunk({}, 'stop', { usage: USAGE })}data: [DONE]\n\n`);
}
