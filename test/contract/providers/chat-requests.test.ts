import { expect } from 'chai';
import { canonicalChat, CHAT, gatewayOf, sendText, translate } from '../../kit/index.ts';
import { type Facts, FACTS } from './facts.ts';
import { connected, factsOf } from './support.ts';

type Body = Record<string, any>;

/** Every parameter of the matrix, every kind of turn, and unknown fields. */
const FULL: Body = {
  messages: [
    { role: 'system', content: 'rules' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'a < b & c > d' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'low' } },
      ],
      name: 'jane',
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }],
      reasoning_content: 'thought',
      reasoning_details: [{ index: 0, type: 'reasoning.text', signature: 's' }],
    },
    { role: 'tool', content: 'seven', tool_call_id: 'call_1' },
    { role: 'assistant', name: '', tool_calls: [], tool_call_id: null, reasoning_content: '' },
  ],
  temperature: 0.5,
  top_p: 0.9,
  n: 1,
  seed: 7,
  max_tokens: 100,
  max_completion_tokens: 64,
  presence_penalty: 0.1,
  frequency_penalty: -0.1,
  stop: ['END'],
  tools: [
    {
      type: 'function',
      function: { name: 'f', description: 'd', parameters: { type: 'object', properties: {} }, strict: true },
    },
  ],
  tool_choice: { type: 'function', function: { name: 'f' } },
  response_format: { type: 'json_schema', json_schema: { name: 's', schema: { type: 'object' } } },
  logprobs: true,
  top_logprobs: 2,
  parallel_tool_calls: false,
  user: 'u-1',
  logit_bias: { 50256: -100 },
  reasoning_effort: 'low',
  metadata: { team: 'a' },
  brand_new_field: { nested: [1, null] },
};

/** What the request becomes everywhere: one ceiling value, content in every turn, and no member that holds nothing. */
const sentByAll: Body = {
  ...FULL,
  max_tokens: 64,
  max_completion_tokens: 64,
  messages: [
    ...FULL['messages'].slice(0, -1).map((message: Body) => ({ ...message, content: message['content'] ?? '' })),
    { role: 'assistant', content: '' },
  ],
};

const without = (body: Body, ...names: readonly string[]): Body =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
const onlyNewCeiling = (body: Body): Body => without(body, 'max_tokens');

const withoutInTurns = (body: Body, ...names: readonly string[]): Body => ({
  ...body,
  messages: body['messages'].map((message: Body) => without(message, ...names)),
});
const THOUGHTS = ['reasoning_content', 'reasoning_details'];

/**
 * Fields and members that no schema has are answered with 422, as are ids of calls that are not nine letters and digits,
 * and turns of the assistant that say nothing. Where thinking is asked for, that of earlier turns is content. Source: @mistralai/mistralai 2.7.0; mistralai/mistral-common, validator.py; 2026-11-22.
 */
function ofClosedSchema(body: Body): Body {
  const thinking = body['messages'].map((message: Body) =>
    message['reasoning_content']
      ? {
          ...message,
          content: [
            { type: 'thinking', thinking: [{ type: 'text', text: message['reasoning_content'] }], closed: true },
          ],
        }
      : message,
  );
  const { messages, seed, ...rest } = withoutInTurns(
    without(
      { ...body, messages: thinking },
      'max_completion_tokens',
      'logprobs',
      'top_logprobs',
      'user',
      'logit_bias',
      'brand_new_field',
    ),
    'name',
    ...THOUGHTS,
  );
  return {
    ...rest,
    reasoning_effort: 'high', // this model knows no other effort. Source: @ai-sdk/mistral 4.0.87, 2026-11-26
    random_seed: seed,
    messages: JSON.parse(JSON.stringify(messages.slice(0, -1)).replaceAll('"call_1"', '"74196fe72"')),
  };
}

/** Thoughts of earlier turns by the name that these hosts have for them. Source: @ai-sdk/cerebras 3.0.59, @openrouter/ai-sdk-provider 2.10.0, 2026-11-26. */
const namedReasoning = (body: Body): Body => ({
  ...body,
  messages: body['messages'].map(({ reasoning_content: thought, ...message }: Body) =>
    thought === undefined ? message : { ...message, reasoning: thought },
  ),
});

/**
 * What differs from the common wire, by provider (docs/providers.md#what-differs). Three vendors answer 4xx to
 * the thoughts of earlier turns, mistral also to names: NousResearch/hermes-agent issue 34716, 2026-05-29 (cerebras),
 * janhq/jan issue 8136, 2026-05-13 (groq), charmbracelet/crush issue 1590, 2025-12-10, and Gage-Technologies/mistral-go
 * pull request 2, 2024-04-18 (mistral).
 */
const DEVIATIONS: Readonly<Record<string, (body: Body) => Body>> = {
  openai: (body) => without(onlyNewCeiling(body), 'reasoning_effort'), // by the rules of this model
  xai: (body) => without(body, 'reasoning_effort'),
  cerebras: (body) => withoutInTurns(namedReasoning(onlyNewCeiling(body)), 'reasoning_details'),
  groq: (body) => withoutInTurns(onlyNewCeiling(body), 'name', ...THOUGHTS),
  mistral: ofClosedSchema,
  openrouter: namedReasoning,
  deepseek: (body) => ({
    ...without(body, 'user'),
    user_id: body['user'],
    response_format: { type: 'json_object' },
    messages: [
      { role: 'system', content: 'Answer with one JSON object that conforms to this JSON schema: {"type":"object"}' },
      ...body['messages'],
    ],
  }),
  perplexity: (body) => ({ ...body, tool_choice: 'required' }),
  together: (body) => ({ ...without(body, 'top_logprobs'), logprobs: 2 }),
};

/**
 * Usage is always asked for (docs/reference/providers.md#streams), but where the vendor answers 422 to the question and sends usage
 * unasked (section 14 row 19). Source: avante-corp/avante.nvim issue 2347, 2025-06-27; dnakov/anon-kode issue 53, 2025-03-14.
 */
const takesStreamOptions = (name: string): boolean => name !== 'mistral';

type Sender = (request: object) => Promise<Body>;

/** A gateway before the provider's stub; what is sent through it comes back as the stub saw it. */
async function senderOf(facts: Facts): Promise<Sender> {
  const { host, upstream } = await gatewayOf(facts, ({ text }, response) => {
    const isStream = text.includes('"stream":true');
    sendText(
      response,
      200,
      isStream ? 'text/event-stream' : 'application/json',
      facts.golden(isStream ? 'stream.txt' : 'reply.json'),
    );
  });
  return async (request) => {
    const before = upstream.seen.length;
    const answer = await host.post(CHAT, request);
    expect(answer.status, answer.text).to.equal(200);
    expect(upstream.seen).to.have.length(before + 1);
    expect(upstream.seen[before]).to.include({
      method: 'POST',
      url: new URL(facts.surfaces.chat.url(upstream.url)).pathname,
    });
    return upstream.seen[before]!.json();
  };
}

describe('chat requests', () => {
  for (const facts of FACTS) {
    const {
      name,
      surfaces: {
        chat: { model },
      },
    } = facts;
    const deviate = DEVIATIONS[name] ?? ((body: Body): Body => body);

    it(`of ${name}: the canonical one, whole and streamed, and the one with every field set`, async () => {
      const sent = await senderOf(facts);
      const usesNew = ['openai', 'cerebras', 'groq'].includes(name);
      const body = {
        model,
        messages: [{ role: 'user', content: 'hi' }],
        temperature: 0.2,
        [usesNew ? 'max_completion_tokens' : 'max_tokens']: 64,
      };
      expect(await sent(canonicalChat(facts))).to.deep.equal(body);
      for (const stream_options of [undefined, { include_usage: false }]) {
        const streamed = {
          ...body,
          stream: true,
          ...(takesStreamOptions(name) && { stream_options: { include_usage: true } }),
        };
        expect(
          await sent(canonicalChat(facts, { stream: true, ...(stream_options && { stream_options }) })),
        ).to.deep.equal(streamed);
      }
      expect(await sent({ model, ...FULL })).to.deep.equal({ model, ...deviate(sentByAll) });
    });

    it(`of ${name} are made without touching the client's`, async () => {
      const request = { model, ...structuredClone(sentByAll) };
      const before = structuredClone(request);
      await translate(await connected(name), 'chat', request as never);
      expect(request).to.deep.equal(before);
    });
  }

  it('invent no ceiling and no sampling', async () => {
    for (const facts of FACTS) {
      const { body } = await translate(await connected(facts.name), 'chat', {
        model: 'jamba',
        messages: [{ role: 'user', content: 'hi' }],
      });
      expect(body, facts.name).to.deep.equal({ model: 'jamba', messages: [{ role: 'user', content: 'hi' }] });
    }
  });

  it('of mistral send the ceiling that wins, under its one name', async () => {
    const sent = await senderOf(factsOf('mistral'));
    expect(await sent(canonicalChat(factsOf('mistral'), { max_completion_tokens: 32 })))
      .to.include({ max_tokens: 32 })
      .and.not.have.property('max_completion_tokens');
  });

  it('of together fold log probabilities into one count', async () => {
    const facts = factsOf('together');
    const sent = await senderOf(facts);
    const folded = async (more: object): Promise<unknown> => (await sent(canonicalChat(facts, more)))['logprobs'];
    expect([
      await folded({ logprobs: true }),
      await folded({ logprobs: true, top_logprobs: 5 }),
      await folded({ logprobs: false }),
      await folded({}),
    ]).to.deep.equal([1, 5, undefined, undefined]);
  });

  it('never say logprobs: false', async () => {
    for (const name of ['openai', 'xai', 'deepseek'])
      expect(
        await (
          await senderOf(factsOf(name))
        )(canonicalChat(factsOf(name), { logprobs: false })),
      ).to.not.have.property('logprobs');
  });
});

describe('ai21 models before Jamba', () => {
  const legacy = async (request: object, model = 'j2-ultra', stream = false): Promise<{ url: string; body: Body }> => {
    const {
      sent: { url },
      body,
    } = await translate(
      await connected('ai21'),
      'chat',
      { model, messages: [{ role: 'user', content: 'hi' }], ...request },
      stream,
    );
    return { url, body };
  };

  it('complete a joined conversation, under their own parameter names', async () => {
    const messages = [
      { role: 'system', content: 'You are terse.' },
      { role: 'user', content: 'first' },
      { role: 'assistant', content: 'reply' },
      { role: 'user', content: 'second' },
    ];
    expect(await legacy({ messages, max_tokens: 9, temperature: 0, top_p: 0.5, stop: ['END'] })).to.deep.equal({
      url: 'http://h:9911/v1/j2-ultra/complete',
      body: {
        prompt: 'system: You are terse.\nuser: first\nassistant: reply\nuser: second\nassistant: ',
        maxTokens: 9,
        temperature: 0,
        topP: 0.5,
        stopSequences: ['END'],
      },
    });
  });

  it('are one percent-encoded path segment, and nothing that climbs', async () => {
    expect((await legacy({}, 'j2 ultra#1')).url).to.equal('http://h:9911/v1/j2%20ultra%231/complete');
    for (const model of ['', '.', '..', 'a/b', '../x', 'a\\b']) {
      const refused = await legacy({}, model).then(
        () => undefined,
        (error: unknown) => error as { status?: number },
      );
      expect(refused?.status, JSON.stringify(model)).to.equal(400);
    }
  });

  it('refuse streams, and parts that are not text, by name', async () => {
    const errorOf = (run: Promise<unknown>): Promise<{ status?: number; message?: string } | undefined> =>
      run.then(
        () => undefined,
        (error: unknown) => error as { status?: number },
      );
    expect((await errorOf(legacy({}, 'j2-ultra', true)))?.status).to.equal(400);
    const messages = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image_url', image_url: { url: 'https://h/a.png' } },
        ],
      },
      { role: 'user', content: 'hi' },
    ];
    const refused = await errorOf(legacy({ messages }));
    expect(refused?.status).to.equal(400);
    expect(refused?.message).to.include('messages[0].content[1]').and.include('image_url');
  });
});
