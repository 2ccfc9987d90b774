// Stands in for a provider, so that an example needs no account: the common wire, Anthropic's and Gemini's, by the path that is asked for.
// It is the same every time: no chance, no clock.
import { createServer } from 'node:http';

const wordsOf = (text) => text.split(/(?=\s)/);
const countOf = (text) => text.split(/\s+/).filter((word) => word !== '').length;
const textOf = (content) =>
  typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join(' ');

const textOfInput = (item) => (typeof item === 'string' ? item : textOf(item.content));

/** What was asked last, in each wire. */
function askedIn({ messages, contents, input }) {
  if (contents) return textOf(contents.at(-1)?.parts);
  if (input !== undefined) return Array.isArray(input) ? textOfInput(input.at(-1)) : input;
  return textOf((messages ?? []).findLast(({ role }) => role !== 'system')?.content);
}

const usageOf = (asked, text) => {
  const [prompt, completion] = [countOf(asked), countOf(text)];
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
};

/** The whole answer and the events of a streamed one, by the end of the path. */
const WIRES = [
  {
    path: /\/chat\/completions$/,
    whole: ({ model }, asked, text) => ({
      id: 'chat-1',
      object: 'chat.completion',
      created: 1,
      model,
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      usage: usageOf(asked, text),
    }),
    events: ({ model, stream_options: options }, asked, text) => {
      const chunk = (choices, more = {}) => ({
        id: 'chat-1',
        object: 'chat.completion.chunk',
        created: 1,
        model,
        choices,
        ...more,
      });
      const delta = (part, reason = null) => chunk([{ index: 0, delta: part, finish_reason: reason }]);
      return [
        delta({ role: 'assistant', content: '' }),
        ...wordsOf(text).map((content) => delta({ content })),
        delta({}, 'stop'),
        ...(options?.include_usage ? [chunk([], { usage: usageOf(asked, text) })] : []),
        '[DONE]',
      ];
    },
  },
  {
    path: /\/responses$/,
    whole: ({ model }, asked, text) => ({
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      status: 'completed',
      model,
      output: [
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text, annotations: [] }],
        },
      ],
      usage: {
        input_tokens: countOf(asked),
        output_tokens: countOf(text),
        total_tokens: countOf(asked) + countOf(text),
      },
    }),
  },
  {
    path: /\/messages$/,
    whole: ({ model }, asked, text) => ({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model,
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      usage: { input_tokens: countOf(asked), output_tokens: countOf(text) },
    }),
  },
  {
    path: /:generateContent$/,
    whole: (_body, asked, text) => ({
      candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: {
        promptTokenCount: countOf(asked),
        candidatesTokenCount: countOf(text),
        totalTokenCount: countOf(asked) + countOf(text),
      },
    }),
  },
  {
    path: /\/embeddings$/,
    whole: ({ model }, asked) => ({
      object: 'list',
      model,
      data: [{ object: 'embedding', index: 0, embedding: [asked.length / 100, 0.5] }],
      usage: { prompt_tokens: countOf(asked), total_tokens: countOf(asked) },
    }),
  },
];

function reply(response, status, body, headers = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

const pause = (ms) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** An answer of the common wire that calls one tool. */
const toolCall = ({ model }, { name, arguments: values }) => ({
  id: 'chat-1',
  object: 'chat.completion',
  created: 1,
  model,
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name, arguments: JSON.stringify(values) } }],
      },
      finish_reason: 'tool_calls',
    },
  ],
  usage: { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 },
});

/** `fail` is a status, `say` a text, `call` a tool, `delay` milliseconds before the answer and each word of a stream; an order holds `times` requests, or for good. */
class Orders {
  #list;

  constructor(list) {
    this.#list = list.map((order) => ({ times: Infinity, ...order }));
  }

  next() {
    const order = this.#list.find(({ times }) => times > 0);
    if (order) order.times -= 1;
    return order ?? {};
  }
}

async function answer({ name, models, orders }, request, response, text) {
  if (request.method === 'GET' && request.url.endsWith('/models'))
    return reply(response, 200, { object: 'list', data: models.map((id) => ({ id, object: 'model' })) });
  const wire = WIRES.find(({ path }) => path.test(request.url.split('?')[0]));
  if (!wire) return reply(response, 404, { error: { message: `nothing is at ${request.url}` } });
  const { fail, say, call, delay = 0 } = orders.next();
  if (delay > 0) await pause(delay);
  if (fail !== undefined)
    return reply(
      response,
      fail,
      { error: { message: `${name} cannot serve now` } },
      fail === 429 ? { 'retry-after': '30' } : {},
    );
  const body = JSON.parse(text);
  if (call) return reply(response, 200, toolCall(body, call));
  const asked = askedIn(body);
  const said = say ?? `${name} read: ${asked}`;
  if (!body.stream || !wire.events) return reply(response, 200, wire.whole(body, asked, said));
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of wire.events(body, asked, said)) {
    response.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
    if (delay > 0) await pause(delay);
  }
  response.end();
}

/** Listens on a free port of this machine, or on `port`; resolves with its address, what it has served, and how to end it. */
export async function startStandIn({ name, port = 0, models = [], orders = [] }) {
  const state = { name, models, orders: new Orders(orders) };
  let calls = 0;
  const server = createServer((request, response) => {
    let text = '';
    request
      .setEncoding('utf8')
      .on('data', (piece) => {
        text += piece;
      })
      .on('end', () => {
        if (request.method === 'POST') calls += 1;
        answer(state, request, response, text).catch((error) => response.destroy(error));
      });
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    calls: () => calls,
    order: (order) => {
      state.orders = new Orders([order]);
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}
