import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { atEnd, sseEvent } from '../../kit/index.ts';

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export interface VendorApi {
  readonly url: string;
  readonly seen: Seen[];
}

const FILE = {
  id: 'file-9k2Q',
  object: 'file',
  bytes: 18,
  created_at: 1_700_000_000,
  filename: 'lines.jsonl',
  purpose: 'batch',
  status: 'processed',
};
const BATCH = {
  id: 'batch_9k2Q',
  object: 'batch',
  endpoint: '/v1/chat/completions',
  errors: null,
  input_file_id: FILE.id,
  completion_window: '24h',
  status: 'validating',
  created_at: 1_700_000_000,
};
const JOB = {
  id: 'ftjob-9k2Q',
  object: 'fine_tuning.job',
  model: 'm',
  created_at: 1_700_000_000,
  status: 'queued',
  training_file: FILE.id,
  hyperparameters: { n_epochs: 'auto' },
};
const STORE = {
  id: 'vs_9k2Q',
  object: 'vector_store',
  created_at: 1_700_000_000,
  name: 'charts',
  status: 'completed',
  file_counts: { in_progress: 0, completed: 1, failed: 0, cancelled: 0, total: 1 },
};
const USAGE = {
  input_tokens: 12,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 17,
};
export const RESPONSE = {
  id: 'resp_9k2Q',
  object: 'response',
  created_at: 1_700_000_000,
  status: 'completed',
  model: 'm',
  parallel_tool_calls: true,
  tools: [],
  error: null,
  incomplete_details: null,
  output: [
    {
      id: 'msg_9k2Q',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'At six.', annotations: [] }],
    },
  ],
  usage: USAGE,
};
const list = (...data: readonly object[]): object => ({
  object: 'list',
  data,
  has_more: false,
  first_id: null,
  last_id: null,
});

/** What each route answers; the shapes are those of the vendor's API reference (platform.openai.com/docs/api-reference, 2026-11-22). */
const ANSWERS: Readonly<Record<string, object | Buffer>> = {
  'POST /files': FILE,
  'GET /files': list(FILE),
  [`GET /files/${FILE.id}`]: FILE,
  [`GET /files/${FILE.id}/content`]: Buffer.from([0, 255, 10, 13, 128, 34]),
  [`DELETE /files/${FILE.id}`]: { id: FILE.id, object: 'file', deleted: true },
  'POST /batches': BATCH,
  'GET /batches': list(BATCH),
  [`GET /batches/${BATCH.id}`]: BATCH,
  [`POST /batches/${BATCH.id}/cancel`]: { ...BATCH, status: 'cancelling' },
  'POST /fine_tuning/jobs': JOB,
  [`GET /fine_tuning/jobs/${JOB.id}`]: JOB,
  'GET /fine_tuning/jobs': list(JOB),
  [`POST /fine_tuning/jobs/${JOB.id}/cancel`]: { ...JOB, status: 'cancelled' },
  'POST /vector_stores': STORE,
  [`GET /vector_stores/${STORE.id}`]: STORE,
  [`POST /vector_stores/${STORE.id}/search`]: {
    object: 'vector_store.search_results.page',
    search_query: ['six'],
    data: [],
    has_more: false,
    next_page: null,
  },
  [`DELETE /vector_stores/${STORE.id}`]: { id: STORE.id, object: 'vector_store.deleted', deleted: true },
  [`GET /responses/${RESPONSE.id}`]: RESPONSE,
  [`POST /responses/${RESPONSE.id}/cancel`]: { ...RESPONSE, status: 'cancelled' },
  [`GET /responses/${RESPONSE.id}/input_items`]: list({
    id: 'msg_1',
    type: 'message',
    role: 'user',
    status: 'completed',
    content: [{ type: 'input_text', text: 'when?' }],
  }),
};

/** Events of a streamed response, each with its number. */
function responseEvents(): readonly object[] {
  const open = { ...RESPONSE, status: 'in_progress', output: [], usage: null };
  return [
    { type: 'response.created', response: open },
    { type: 'response.in_progress', response: open },
    {
      type: 'response.output_text.delta',
      item_id: 'msg_9k2Q',
      output_index: 0,
      content_index: 0,
      delta: 'At ',
      logprobs: [],
    },
    {
      type: 'response.output_text.delta',
      item_id: 'msg_9k2Q',
      output_index: 0,
      content_index: 0,
      delta: 'six.',
      logprobs: [],
    },
    { type: 'response.completed', response: RESPONSE },
  ].map((event, sequence_number) => ({ ...event, sequence_number }));
}

/** A loopback server with the routes of the vendor that the gateway has none of its own for, WebSocket included, until the suite ends. */
export async function vendorApi(): Promise<VendorApi> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => void answer(request, response, seen));
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket, request) => {
    seen.push({
      method: 'WS',
      path: (request.url ?? '').replace(/^\/v1/, ''),
      headers: request.headers,
      body: Buffer.alloc(0),
    });
    socket.send(
      JSON.stringify({ type: 'session.created', event_id: 'event_1', session: { type: 'realtime', model: 'm' } }),
    );
    socket.on('message', (data, isBinary) =>
      socket.send(
        isBinary
          ? data
          : JSON.stringify({
              type: 'conversation.item.added',
              event_id: 'event_2',
              item: JSON.parse((data as Buffer).toString()) as unknown,
            }),
      ),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  atEnd(
    () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets.clients) socket.terminate();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

async function answer(request: IncomingMessage, response: ServerResponse, seen: Seen[]): Promise<void> {
  const body = Buffer.concat((await request.toArray()) as Buffer[]);
  const path = (request.url ?? '').replace(/^\/v1/, '');
  seen.push({ method: request.method ?? '', path, headers: request.headers, body });
  const route = `${request.method} ${path.split('?')[0]}`;
  if (route === 'POST /responses' && (JSON.parse(body.toString()) as { stream?: boolean }).stream) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of responseEvents())
      response.write(`event: ${(event as { type: string }).type}\n${sseEvent(event)}`);
    response.end();
    return;
  }
  const found = route === 'POST /responses' ? RESPONSE : ANSWERS[route];
  if (found instanceof Buffer) {
    response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(found);
    return;
  }
  response
    .writeHead(found ? 200 : 404, { 'content-type': 'application/json' })
    .end(
      JSON.stringify(
        found ?? { error: { message: `no ${route}`, type: 'invalid_request_error', param: null, code: null } },
      ),
    );
}
