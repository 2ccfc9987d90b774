// A tool server of the Model Context Protocol with one tool, by streamable HTTP. Its address: PORT, or any free port.
import { createServer } from 'node:http';

const TOOL = {
  name: 'add',
  description: 'Adds two numbers',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  },
};

const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'sums', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [TOOL] }),
  'tools/call': ({ arguments: { a, b } }) => ({ content: [{ type: 'text', text: String(a + b) }] }),
};

function answer(response, text) {
  const { id, method, params = {} } = JSON.parse(text);
  if (id === undefined) return response.writeHead(202).end(); // a notification
  const run = METHODS[method];
  const outcome = run ? { result: run(params) } : { error: { code: -32601, message: `there is no ${method}` } };
  response.writeHead(200, { 'content-type': 'application/json' });
  return response.end(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
}

const server = createServer((request, response) => {
  if (request.method !== 'POST') return response.writeHead(405).end();
  let text = '';
  return request
    .setEncoding('utf8')
    .on('data', (piece) => {
      text += piece;
    })
    .on('end', () => answer(response, text));
});
server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () =>
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`),
);
