// Stands in for the Acme service, so that the example runs without an account. Its address: PORT, or any free port.
import { createServer } from 'node:http';

const KEY = 'acme-demo-key';

function answer({ messages, random_seed: seed }) {
  const heard = messages.map(({ content }) => content).join('').length;
  return `Acme heard ${heard} characters${seed === undefined ? '' : ` and the seed ${seed}`}.`;
}

function reply(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function stream(response, body) {
  const chunk = (delta, finish_reason) =>
    `data: ${JSON.stringify({ id: 'acme-1', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const word of answer(body).split(/(?= )/)) response.write(chunk({ content: word }, null));
  response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
}

function serve(request, response, text) {
  if (request.headers['x-acme-key'] !== KEY) return reply(response, 401, { detail: 'unknown key' });
  if (request.url !== '/v1/chat') return reply(response, 404, { detail: `nothing at ${request.url}` });
  const body = JSON.parse(text);
  if (body.temperature > 1) return reply(response, 400, { detail: 'temperature goes up to 1' });
  if (body.stream) return stream(response, body);
  return reply(response, 200, {
    id: 'acme-1',
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: answer(body) }, finish_reason: 'stop' }],
  });
}

const server = createServer((request, response) => {
  let text = '';
  request
    .setEncoding('utf8')
    .on('data', (piece) => {
      text += piece;
    })
    .on('end', () => serve(request, response, text));
});
server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () =>
  process.stdout.write(`acme listens on http://127.0.0.1:${server.address().port}/v1\n`),
);
