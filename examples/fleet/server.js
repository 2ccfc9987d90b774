// Stands in for a server that speaks the OpenAI format, such as vLLM. Its name is the first argument, its address PORT or
// any free port. With FLEET_KEY it takes that key alone.
import { createServer } from 'node:http';

const [name = 'server'] = process.argv.slice(2);
const MODEL = 'Qwen/Qwen3-32B';
const key = process.env.FLEET_KEY || undefined;

function reply(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function serve(request, response, text) {
  if (key !== undefined && request.headers.authorization !== `Bearer ${key}`)
    return reply(response, 401, { error: { message: 'invalid api key', code: 'invalid_api_key' } });
  if (request.url === '/v1/models')
    return reply(response, 200, { object: 'list', data: [{ id: MODEL, object: 'model' }] });
  if (request.url !== '/v1/chat/completions') return reply(response, 404, { detail: 'Not Found' });
  const { model, messages } = JSON.parse(text);
  if (model !== MODEL)
    return reply(response, 404, { error: { message: `there is no model ${model}`, code: 'model_not_found' } });
  return reply(response, 200, {
    id: 'chat-1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: `${name} read ${messages.length} messages` },
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: messages.length, completion_tokens: 4, total_tokens: messages.length + 4 },
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
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`),
);
