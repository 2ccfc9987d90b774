import { expect } from 'chai';
import openai from '../../providers/openai/index.ts';
import { resolveRoot } from '../../host/upstream/base-url.ts';
import {
  ask,
  golden,
  startHost,
  type StubHandler,
  stubUpstream,
  type StubUpstream,
  refusedBy,
  sentBy,
  type TestHost,
} from '../kit/index.ts';

const PATH = '/v1/chat/completions';
const MODEL = 'gpt-4.1-mini';
const KEY = 'test-openai-credential';

interface Openai {
  readonly host: TestHost;
  readonly upstream: StubUpstream;
}

/** A gateway whose openai target calls a stub. */
async function openaiAt(handler: StubHandler, path = '', config: object = {}): Promise<Openai> {
  const upstream = await stubUpstream(handler);
  const variables = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${upstream.url}${path}` };
  return {
    upstream,
    host: await startHost({ targets: [{ virtual_key: 'openai', models: [MODEL] }], ...config }, { variables }),
  };
}

const fixture =
  (name: string): StubHandler =>
  (_request, response) => {
    response
      .writeHead(200, { 'content-type': name.endsWith('.sse') ? 'text/event-stream' : 'application/json' })
      .end(golden(`openai/chat/${name}`));
  };

const failing =
  (status: number): StubHandler =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(golden(`openai/chat/error-${status}.json`));
  };

async function sent(request: object): Promise<Record<string, unknown>> {
  const { host, upstream } = await openaiAt(
    fixture((request as { stream?: boolean }).stream ? 'stream.sse' : 'reply.json'),
  );
  expect(
    (await host.post(PATH, { model: MODEL, messages: [{ role: 'user', content: 'hi' }], ...request })).status,
  ).to.equal(200);
  return upstream.seen[0]?.json() ?? {};
}

describe('openai', () => {
  it('declares its credential, its root and what it can do', () => {
    expect(openai).to.include({
      name: 'openai',
      wire: 'common',
      passthrough: true,
      batches: true,
      responses: 'native',
    });
    expect(openai.connection).to.include({ baseUrl: 'https://api.openai.com/v1' });
    expect(openai.connection.env).to.deep.equal(['OPENAI_API_KEY']);
    expect(openai.params).to.deep.equal({});
  });

  it('takes a base URL with or without a path, and a bare host with its version', () => {
    const root = (configured: string): string =>
      resolveRoot(configured, openai.connection.baseUrl as string, 'api-root').root;
    expect([root('http://h:1'), root('http://h:1/v1/'), root('http://h:1/probe')]).to.deep.equal([
      'http://h:1/v1',
      'http://h:1/v1',
      'http://h:1/probe',
    ]);
  });
});

describe('openai, requests', () => {
  it("go to {root}/chat/completions with the bearer credential, never the client's", async () => {
    for (const [path, url] of [
      ['', '/v1/chat/completions'],
      ['/probe', '/probe/chat/completions'],
    ] as const) {
      const { host, upstream } = await openaiAt(fixture('reply.json'), path);
      await host.post(PATH, ask('hi', { model: MODEL }), {
        cookie: 'session=1',
        'x-api-key': 'client',
        'x-gateway-metadata': '{"team":"a"}',
      });
      expect(upstream.seen[0]).to.include({ method: 'POST', url });
      expect(upstream.seen[0]?.headers).to.include({
        authorization: `Bearer ${KEY}`,
        'content-type': 'application/json',
      });
      expect(upstream.seen[0]?.headers).to.not.have.any.keys('cookie', 'x-api-key', 'x-gateway-metadata');
    }
  });

  it('carry every field of the client, known or not', async () => {
    const request = {
      messages: [
        { role: 'developer', content: 'rules' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AA', detail: 'low' } },
            { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
          refusal: null,
        },
        { role: 'tool', content: 'result', tool_call_id: 'call_1' },
      ],
      temperature: 0.5,
      top_p: 1,
      n: 2,
      seed: 7,
      presence_penalty: 1,
      frequency_penalty: -1,
      tools: [{ type: 'function', function: { name: 'f', parameters: {}, strict: true } }],
      tool_choice: { type: 'function', function: { name: 'f' } },
      parallel_tool_calls: false,
      response_format: { type: 'json_object' },
      logprobs: true,
      top_logprobs: 2,
      user: 'u',
      logit_bias: { 50256: -100 },
      reasoning_effort: 'low',
      metadata: { a: 'b' },
      store: false,
      unknown_field: null,
    };
    const { reasoning_effort: _refused, ...taken } = request;
    expect(await sent(request)).to.deep.equal({
      model: MODEL,
      ...taken,
      messages: request.messages.map((message) => ({
        ...message,
        ...(message.role === 'developer' && { role: 'system' }), // by the rules of this model
        content: message.content ?? '',
      })),
    });
  });

  it('send only max_completion_tokens, whichever ceiling the client named, and invent none', async () => {
    expect(await sent({ max_tokens: 5 }))
      .to.include({ max_completion_tokens: 5 })
      .and.not.have.property('max_tokens');
    expect(await sent({ max_tokens: 9, max_completion_tokens: 6 }))
      .to.include({ max_completion_tokens: 6 })
      .and.not.have.property('max_tokens');
    expect(await sent({})).to.not.have.any.keys('max_tokens', 'max_completion_tokens');
  });

  it('always ask a stream for usage, and whole answers for nothing of the kind', async () => {
    for (const options of [undefined, { include_usage: false }]) {
      expect(await sent({ stream: true, ...(options && { stream_options: options }) })).to.deep.include({
        stream: true,
        stream_options: { include_usage: true },
      });
    }
    expect(await sent({ stream_options: { include_usage: true } })).to.not.have.any.keys('stream', 'stream_options');
  });

  it('send stop as a list, no logprobs: false, and large integers digit for digit', async () => {
    expect(await sent({ stop: 'END' })).to.deep.include({ stop: ['END'] });
    expect(await sent({ logprobs: false })).to.not.have.property('logprobs');
    const { host, upstream } = await openaiAt(fixture('reply.json'));
    await host.post(
      PATH,
      `{"model":"${MODEL}","messages":[{"role":"user","content":"hi"}],"seed":9223372036854775807}`,
    );
    expect(upstream.seen[0]?.text).to.include('"seed":9223372036854775807');
  });

  it('send members of messages only when they hold something, and content always', async () => {
    const body = await sent({
      messages: [
        { role: 'assistant', name: '', tool_calls: [], reasoning_content: '' },
        { role: 'user', content: 'x', name: 'jane' },
      ],
    });
    expect(body['messages']).to.deep.equal([
      { role: 'assistant', content: '' },
      { role: 'user', content: 'x', name: 'jane' },
    ]);
  });
});

describe('openai, answers', () => {
  it('keep their object and time, and name model and target of the gateway', async () => {
    const { host } = await openaiAt(fixture('reply.json'), '', { aliases: { fast: MODEL } });
    const reply = (await host.post(PATH, ask('hi', { model: 'fast' }))).json();
    expect(reply).to.include({
      id: 'chatcmpl-B9k2Qm7VtXw4',
      object: 'chat.completion',
      created: 1_763_000_000,
      model: MODEL,
      provider: 'openai',
    });
    expect(reply.choices[0].message).to.include({
      role: 'assistant',
      content: 'The harbour opens at six, and closes at nine.',
    });
    expect(reply.choices[0].finish_reason).to.equal('stop');
    expect(reply.usage).to.deep.equal({
      prompt_tokens: 19,
      completion_tokens: 11,
      total_tokens: 30,
      cache_read_tokens: 8,
      prompt_tokens_details: { cached_tokens: 8 },
    });
  });

  it('keep every choice, and log probabilities', async () => {
    const many = (
      await (await openaiAt(fixture('choices.json'))).host.post(PATH, ask('hi', { model: MODEL, n: 2 }))
    ).json();
    expect(many.choices.map(({ index }: { index: number }) => index)).to.deep.equal([0, 1]);
    const scored = (
      await (await openaiAt(fixture('logprobs.json'))).host.post(PATH, ask('hi', { model: MODEL, logprobs: true }))
    ).json();
    expect(scored.choices[0].logprobs).to.deep.equal(
      JSON.parse(golden('openai/chat/logprobs.json')).choices[0].logprobs,
    );
  });

  it('have content null when the turn only calls tools', async () => {
    const {
      choices: [choice],
    } = (await (await openaiAt(fixture('tools.json'))).host.post(PATH, ask('hi', { model: MODEL }))).json();
    expect(choice.message.content).to.equal(null);
    expect(choice.finish_reason).to.equal('tool_calls');
    expect(choice.message.tool_calls).to.deep.equal(
      JSON.parse(golden('openai/chat/tools.json')).choices[0].message.tool_calls,
    );
  });

  it("stream byte for byte but for the model's name; the usage of the last chunk is tidied", async () => {
    const { host } = await openaiAt(fixture('stream.sse'));
    const answer = await host.post(PATH, ask('hi', { model: MODEL, stream: true }));
    const given = golden('openai/chat/stream.sse').replaceAll('gpt-4.1-mini-2025-04-14', MODEL).split('\n\n');
    const got = answer.text.split('\n\n');
    const last = given.findIndex((event) => event.includes('"choices":[]'));
    expect(got.toSpliced(last, 1)).to.deep.equal(given.toSpliced(last, 1));
    expect(answer.events()[last].usage).to.deep.equal({
      prompt_tokens: 19,
      completion_tokens: 14,
      total_tokens: 33,
      cache_read_tokens: 8,
      prompt_tokens_details: { cached_tokens: 8 },
    });
  });

  for (const name of [
    'choices.sse',
    'tools.sse',
    'structured.sse',
    'refusal.sse',
    'logprobs.sse',
    'reasoning.sse',
    'reasoning-content.sse',
  ]) {
    it(`stream the deltas of ${name} as they are, but for names that vary`, async () => {
      const { host } = await openaiAt(fixture(name));
      const got = (await host.post(PATH, ask('hi', { model: MODEL, stream: true }))).events();
      const given = golden(`openai/chat/${name}`)
        .split('\n\n')
        .filter((event) => event.startsWith('data: {'))
        .map((event) => JSON.parse(event.slice(6)));
      const seen = new Set<number>();
      const deltas = given.map(({ choices }) =>
        choices.map(({ index, delta: { role: _role, reasoning, ...delta } }: any) => {
          const first = !seen.has(index);
          seen.add(index);
          return {
            ...(first && { role: 'assistant' }),
            ...delta,
            ...(reasoning !== undefined && { reasoning_content: reasoning }),
          };
        }),
      );
      expect(got.at(-1)).to.equal('[DONE]');
      expect(got.slice(0, -1).map(({ choices }) => choices.map(({ delta }: any) => delta))).to.deep.equal(deltas);
    });
  }
});

describe('openai, errors', () => {
  for (const [status, expected] of [
    [
      400,
      {
        status: 400,
        code: 'invalid_request',
        message: "Unsupported value: 'verbosity' does not support 'shout' with this model.",
      },
    ],
    [429, { status: 429, code: 'rate_limit_exceeded' }],
    [500, { status: 502, code: 'upstream_error' }],
  ] as const) {
    it(`answers ${expected.status} for ${status}, whole and streamed`, async () => {
      const { host } = await openaiAt(failing(status));
      for (const stream of [false, true]) {
        const answer = await host.post(PATH, ask('hi', { model: MODEL, stream }));
        expect(answer.status).to.equal(expected.status);
        expect(answer.json().error.code).to.equal(expected.code);
        if ('message' in expected) expect(answer.json().error.message).to.equal(expected.message);
        else
          expect(answer.json().error.message).to.not.equal(
            JSON.parse(golden(`openai/chat/error-${status}.json`)).error.message,
          );
      }
    });
  }

  it('never shows the credential that the upstream echoes', async () => {
    const { host } = await openaiAt((_request, response) => {
      response.writeHead(400).end(JSON.stringify({ error: { message: `Incorrect API key provided: ${KEY}` } }));
    });
    const answer = await host.post(PATH, ask('hi', { model: MODEL }));
    expect(answer.json().error.message).to.equal('Incorrect API key provided: [REDACTED:OPENAI_API_KEY]');
    expect(JSON.stringify(host.lines)).to.not.include(KEY);
  });
});

describe('openai, embeddings and images', () => {
  it('always name the encoding, and send no input type', async () => {
    const request = { model: 'm', input: [1, 2], dimensions: 3, user: 'u', input_type: 'query' };
    const { body, ignored } = await sentBy(openai, 'embeddings', request);
    expect(body).to.deep.equal({ model: 'm', input: [1, 2], dimensions: 3, user: 'u', encoding_format: 'float' });
    expect(ignored).to.deep.equal(['input_type']);
    expect(
      (await sentBy(openai, 'embeddings', { ...request, encoding_format: 'base64' })).body.encoding_format,
    ).to.equal('base64');
  });

  it('choose the format of dall-e images, an address unless asked', async () => {
    const request = { model: 'dall-e-3', prompt: 'p', n: 1, size: '1x1', quality: 'hd', style: 'vivid', user: 'u' };
    expect((await sentBy(openai, 'images', request)).body).to.deep.equal({ ...request, response_format: 'url' });
    expect((await sentBy(openai, 'images', { ...request, response_format: 'b64_json' })).body.response_format).to.equal(
      'b64_json',
    );
  });

  it('leave the only format of other images unsaid, and refuse addresses', async () => {
    const request = { model: 'gpt-image-1', prompt: 'p', background: 'opaque' };
    for (const format of [{}, { response_format: 'b64_json' }])
      expect((await sentBy(openai, 'images', { ...request, ...format })).body).to.deep.equal(request);
    const error = await refusedBy(openai, 'images', { ...request, response_format: 'url' });
    expect([error.code, error.message]).to.deep.equal([
      'unsupported_parameter',
      'response_format "url" is not supported: gpt-image-1 produces b64_json',
    ]);
  });
});
