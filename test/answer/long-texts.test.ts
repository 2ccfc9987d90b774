import { expect } from 'chai';
import { openSse, startHost, stubUpstream } from '../kit/index.ts';

/** A text longer than guards look at in one go, with what they mask in every place, also where it is cut. */
const TEXT = Array.from({ length: 9_000 }, (_, at) => `word ${at} of a.user${at}@example.org, `).join('');
const CUTS: Readonly<Record<string, number>> = { 'one event': TEXT.length, 'events of 1,000 characters': 1_000 };

const chatEvents = (size: number): object[] => [
  ...pieces(size).map((content) => chunk({ content }, null)),
  chunk({}, 'stop'),
];
const chunk = (delta: object, finish_reason: string | null): object => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
});

/** Source: platform.claude.com, "Streaming messages", 2026-11-27. */
const messageEvents = (size: number): { type: string }[] => [
  {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  } as { type: string },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as { type: string },
  ...pieces(size).map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
  { type: 'content_block_stop', index: 0 } as { type: string },
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 9 },
  } as { type: string },
  { type: 'message_stop' },
];

const pieces = (size: number): string[] =>
  Array.from({ length: Math.ceil(TEXT.length / size) }, (_, at) => TEXT.slice(at * size, (at + 1) * size));

/** What a client reads of a streamed answer, by the wire it speaks. */
const CLIENTS: Readonly<Record<string, { readonly path: string; readonly textOf: (event: any) => string }>> = {
  'a client of chats': {
    path: '/v1/chat/completions',
    textOf: ({ choices }) => choices?.[0]?.delta?.content ?? '',
  },
  'a client of Messages': { path: '/v1/messages', textOf: ({ delta }) => delta?.text ?? '' },
};

const UPSTREAMS: Readonly<Record<string, (size: number) => string>> = {
  openai: (size) =>
    [...chatEvents(size).map((event) => `data: ${JSON.stringify(event)}\n\n`), 'data: [DONE]\n\n'].join(''),
  anthropic: (size) =>
    messageEvents(size)
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join(''),
};

const GUARDS: Readonly<Record<string, object>> = {
  'that masks': { name: 'pii-redact', config: { action: 'mask' } },
  'that lets it pass': { name: 'word-filter', config: { blocked_words: ['never said'], stream: 'window' } },
};

async function read(
  provider: string,
  size: number,
  path: string,
  guard: object,
): Promise<{ status: number; events: any[] }> {
  const upstream = await stubUpstream((_request, response) => {
    openSse(response);
    response.end(UPSTREAMS[provider]?.(size));
  });
  const name = provider.toUpperCase();
  const host = await startHost(
    {
      targets: [{ virtual_key: provider, models: ['m'] }],
      plugins: [{ ...guard, stage: 'after_request', enabled: true }],
    },
    { variables: { [`${name}_API_KEY`]: 'key-of-this-test', [`${name}_BASE_URL`]: `${upstream.url}/v1` } },
  );
  const answer = await host.post(path, {
    model: 'm',
    max_tokens: 9,
    stream: true,
    messages: [{ role: 'user', content: 'hi' }],
  });
  const events = answer.text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)));
  return { status: answer.status, events };
}

describe('a long text in one event of a stream that a guard looks at', () => {
  for (const [what, guard] of Object.entries(GUARDS))
    for (const provider of Object.keys(UPSTREAMS))
      for (const [client, { path, textOf }] of Object.entries(CLIENTS))
        it(`is what it would be in many: guard ${what}, ${provider}, ${client}`, async () => {
          const said = await Promise.all(
            Object.values(CUTS).map(async (size) => {
              const { status, events } = await read(provider, size, path, guard);
              expect(status).to.equal(200);
              return events.map(textOf).join('');
            }),
          );
          expect(said[0]).to.have.length.above(TEXT.length / 2);
          expect(said[0] === said[1], `${said[0]?.length} against ${said[1]?.length}`).to.equal(true);
          expect(/a\.user\d+@example\.org/.test(said[0] ?? '')).to.equal(what !== 'that masks');
        });
});
