// Stands in for the service "Brook", so that the example needs no account.
import { createServer } from 'node:http';

const port = Number(process.env.PORT ?? 8082);

const server = createServer((request, response) => {
  void answer(request, response);
});

async function answer(request, response) {
  let text = '';
  for await (const piece of request) text += piece;
  if (request.headers['x-brook-token'] !== 'brook-demo-token') trouble(response, 401, 'this token opens nothing');
  else if (text.includes('"flood"')) trouble(response, 429, 'the brook is full', 3);
  else flowBack(response, JSON.parse(text));
}

function flowBack(response, { lines, flow, most = 100 }) {
  const words = `You said: ${lines.at(-1).says}`.split(/(?= )/).slice(0, most);
  const used = { in: lines.length, out: words.length };
  const ended = words.length === most ? 'full' : 'done';
  response.writeHead(200, { 'content-type': flow ? 'application/x-ndjson' : 'application/json' });
  if (flow) for (const word of words) response.write(`${JSON.stringify({ text: word })}\n`);
  response.end(`${JSON.stringify({ ...(!flow && { text: words.join('') }), ended, used })}\n`);
}

function trouble(response, status, what, retry_in_s) {
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(JSON.stringify({ trouble: { what, retry_in_s } }));
}

server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
