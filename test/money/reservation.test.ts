import { expect } from 'chai';
import { promptTokens } from '../../host/contract/index.ts';
import { madeUpExchange } from '../../host/testing/made-up.ts';
import { chatReply, eventually, replyJson, type StubHandler } from '../kit/index.ts';
import { keyScene } from './kit.ts';

/** Answers once it is opened. */
function gate(): { readonly handler: StubHandler; readonly open: () => void } {
  const opened = Promise.withResolvers<void>();
  return {
    open: () => opened.resolve(),
    handler: async (_seen, response) => {
      await opened.promise;
      replyJson(response, 200, chatReply('x'));
    },
  };
}

describe('what a call reserves of a budget', () => {
  it('keeps 60 calls at once, without a ceiling, from spending much more than there is', async () => {
    const { send, seen, booked } = await keyScene(
      (_seen, response) =>
        replyJson(
          response,
          200,
          chatReply('x', { usage: { prompt_tokens: 100, completion_tokens: 16_000, total_tokens: 16_100 } }),
        ),
      { budgetUsd: 0.01 },
    );
    const statuses = await Promise.all(Array.from({ length: 60 }, async () => (await send()).status));
    expect(statuses.filter((status) => status === 200)).to.have.length(1);
    expect(statuses.filter((status) => status === 402)).to.have.length(59);
    expect([seen(), await booked()]).to.deep.equal([1, 100 * 2.5 + 16_000 * 10]);
  });

  /** gpt-4o answers 16,384 tokens at most, at 10 micro-dollars; the prompt is one token, at 2.5. */
  for (const [what, request, tokens] of [
    ['4,096 tokens without a ceiling', {}, 4096],
    ['a declared ceiling', { max_tokens: 7 }, 7],
    ['no more than the model can answer', { max_tokens: 10 ** 9 }, 16_384],
    ['the ceiling of each choice', { max_tokens: 7, n: 4 }, 28],
    ['no more than 128 choices', { max_tokens: 1, n: 10 ** 6 }, 128],
  ] as const) {
    it(`is the prompt and ${what}`, async () => {
      const { handler, open } = gate();
      const { send, seen, reserved } = await keyScene(handler);
      const sent = send(request);
      await eventually(() => seen() === 1);
      expect(reserved()).to.equal(tokens * 10 + 2.5);
      open();
      await (await sent).text();
      expect(reserved()).to.equal(0);
    });
  }

  it('is no more than 200,000 tokens of a model without a known limit, and leaves others room', async () => {
    const { handler, open } = gate();
    const { send, seen, reserved } = await keyScene(handler, { models: ['not-in-the-catalog'] });
    const sent = send({ max_tokens: 10 ** 9 });
    await eventually(() => seen() === 1);
    expect(reserved()).to.equal(0); // it has no price
    open();
    await (await sent).text();
  });

  it('is for native responses too', async () => {
    const { handler, open } = gate();
    const { send, seen, reserved } = await keyScene(handler);
    const sent = send({ input: 'hi', max_output_tokens: 100 }, '/v1/responses');
    await eventually(() => seen() === 1);
    expect(reserved()).to.be.within(1000, 1010);
    open();
    await (await sent).text();
  });
});

describe('how long a prompt is', () => {
  const tokens = (request: object, surface = 'chat'): number =>
    promptTokens({ ...madeUpExchange(), surface, request } as never);
  const base = tokens({ model: 'm', messages: [{ role: 'user', content: 'hi' }] });
  const LONG = 'x'.repeat(4000);

  it('is a quarter of the characters of a text, and one', () => expect(base).to.equal(1));

  for (const [what, more] of [
    [
      'an earlier call',
      {
        messages: [
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: LONG } }],
          },
        ],
      },
    ],
    ['an answer of a tool', { messages: [{ role: 'tool', tool_call_id: 'c', content: LONG }] }],
    ['parts', { messages: [{ role: 'user', content: [{ type: 'text', text: LONG }] }] }],
    ['thoughts of an earlier turn', { messages: [{ role: 'assistant', content: 'a', reasoning_content: LONG }] }],
    ['a description of a tool', { tools: [{ type: 'function', function: { name: 'f', description: LONG } }] }],
    [
      'a name in the schema of a tool',
      {
        tools: [
          {
            type: 'function',
            function: { name: 'f', parameters: { type: 'object', properties: { [LONG]: { type: 'string' } } } },
          },
        ],
      },
    ],
    [
      'the schema of the answer',
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'n', schema: { type: 'object', properties: { [LONG]: {} } } },
        },
      },
    ],
    ['a member that is only forwarded', { prediction: { type: 'content', content: LONG } }],
  ] as const) {
    it(`counts ${what}`, () =>
      expect(tokens({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...more })).to.be.within(1000, 1030));
  }

  it('counts an image once, whatever its bytes are, and a file by its size', () => {
    const image = (url: string): object => ({
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
    });
    for (const url of ['https://x.example/a.png', `data:image/png;base64,${'A'.repeat(1_000_000)}`])
      expect(tokens(image(url))).to.be.within(1600, 1610);
    expect(
      tokens({
        messages: [
          {
            role: 'user',
            content: [{ type: 'file', file: { file_data: `data:application/pdf;base64,${'A'.repeat(80_000)}` } }],
          },
        ],
      }),
    ).to.be.within(3000, 3010);
    expect(
      tokens({
        messages: [
          {
            role: 'user',
            content: [{ type: 'input_audio', input_audio: { data: 'A'.repeat(80_000), format: 'wav' } }],
          },
        ],
      }),
    ).to.be.within(3000, 3010);
  });

  for (const [surface, request] of [
    ['embeddings', { model: 'm', input: LONG }],
    ['embeddings', { model: 'm', input: [LONG] }],
    ['images', { model: 'm', prompt: LONG }],
    ['rerank', { model: 'm', query: 'a', documents: [LONG] }],
    ['audio.speech', { model: 'm', input: LONG, voice: 'v' }],
    ['moderations', { model: 'm', input: [{ type: 'text', text: LONG }] }],
    [
      'responses',
      { model: 'm', json: { model: 'm', input: [{ role: 'user', content: [{ type: 'input_text', text: LONG }] }] } },
    ],
  ] as const) {
    it(`is counted on ${surface}: ${Object.keys(request).join(', ')}`, () =>
      expect(tokens(request, surface)).to.be.within(1000, 1030));
  }

  it('is ids of tokens by their number', () =>
    expect(tokens({ model: 'm', input: [[1, 2, 3], [4]] }, 'embeddings')).to.equal(5));
});
