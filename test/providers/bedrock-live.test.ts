import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import {
  ask,
  atEnd,
  expectStream,
  MASTER_KEY,
  replyJson,
  type SeenRequest,
  startHost,
  type StubHandler,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';
import {
  BEARER,
  CLAUDE,
  event,
  exception,
  fixture,
  KEYS,
  LLAMA,
  MISTRAL,
  NOVA,
  streamOf,
  TITAN,
} from './bedrock-support.ts';

const CHAT = '/v1/chat/completions';
const FAMILIES = [
  [CLAUDE, 'claude'],
  [NOVA, 'nova'],
  [TITAN, 'titan'],
  [LLAMA, 'llama'],
  [MISTRAL, 'converse'],
] as const;
const OTHERS = ['amazon.titan-embed-text-v2:0', 'amazon.nova-canvas-v1:0', 'cohere.rerank-v3-5:0'];
const TIDE = { type: 'function', function: { name: 'tide', parameters: { type: 'object', properties: {} } } };

interface Live {
  readonly host: TestHost;
  readonly upstream: StubUpstream;
}

async function open(
  handler: StubHandler,
  config: object = {},
  variables: Record<string, string> = { ...BEARER, ...KEYS },
): Promise<Live> {
  const upstream = await stubUpstream(handler);
  const target = { virtual_key: 'bedrock', models: [...FAMILIES.map(([model]) => model), ...OTHERS] };
  const addresses = {
    AWS_ENDPOINT_URL_BEDROCK_RUNTIME: upstream.url,
    AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME: upstream.url,
  };
  return {
    upstream,
    host: await startHost({ targets: [target], ...config }, { variables: { ...addresses, ...variables } }),
  };
}

const stream = (response: ServerResponse, bytes: Buffer): void => {
  response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' }).end(bytes);
};

const nameOf = ({ url }: SeenRequest): string =>
  FAMILIES.find(([model]) => decodeURIComponent(url).includes(model))?.[1] ?? '';

describe('bedrock behind the gateway', () => {
  for (const [model, name] of FAMILIES) {
    it(`answers and streams chat of ${name}`, async () => {
      const { host, upstream } = await open((request, response) => {
        if (request.url.includes('stream')) stream(response, streamOf(`chat/${nameOf(request)}-stream.json`));
        else replyJson(response, 200, fixture(`chat/${nameOf(request)}-reply.json`));
      });
      const whole = await host.post(CHAT, ask('hi', { model, max_tokens: 64, temperature: 0.2 }));
      expect(whole.status, whole.text).to.equal(200);
      expect(whole.json()).to.deep.include({
        model,
        provider: 'bedrock',
        usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
      });
      const streamed = (await host.post(CHAT, ask('hi', { model, stream: true }))).events();
      expect(streamed.at(-1)).to.equal('[DONE]');
      expectStream(streamed.slice(0, -1), model, 'stop');
      expect(upstream.seen.map(({ headers }) => headers['content-type'])).to.deep.equal([
        'application/json',
        'application/json',
      ]);
    });
  }

  it('streams tools of a model that cannot, from its whole answer', async () => {
    const { host, upstream } = await open((request, response) => {
      if (request.url.endsWith('-stream'))
        replyJson(response, 400, { message: "This model doesn't support tool use in streaming mode." });
      else replyJson(response, 200, fixture('chat/converse-tools-reply.json'));
    });
    const request = ask('hi', { model: LLAMA, tools: [TIDE] });
    const events = (await host.post(CHAT, { ...request, stream: true })).events();
    expect(events.at(-1)).to.equal('[DONE]');
    const deltas = events.slice(0, -1).flatMap(({ choices }) => choices.map(({ delta }: any) => delta));
    expect(deltas.map(({ content }: any) => content ?? '').join('')).to.equal("I'll look both up.");
    expect(
      deltas
        .flatMap(({ tool_calls }: any) => tool_calls ?? [])
        .filter(({ id }: any) => id)
        .map((call: any) => [call.index, call.id, call.function.name]),
    ).to.deep.equal([
      [0, 'tooluse_1', 'tide'],
      [1, 'tooluse_2', 'clock'],
    ]);
    expect(events.at(-2)).to.deep.include({ choices: [] }).and.to.have.nested.property('usage.cache_read_tokens', 8000);
    expect(upstream.seen.map(({ url }) => url.split('/').at(-1))).to.deep.equal(['converse-stream', 'converse']);
    expect(upstream.seen[1]?.text).to.equal(upstream.seen[0]?.text);
  });

  it('leaves other refusals of a stream as they are, and those of the second call', async () => {
    const { host, upstream } = await open((_request, response) =>
      replyJson(response, 400, { message: 'The model is not ready.' }),
    );
    const answer = await host.post(CHAT, ask('hi', { model: MISTRAL, stream: true }));
    expect([answer.status, answer.json().error.message, upstream.seen.length]).to.deep.equal([
      400,
      'The model is not ready.',
      1,
    ]);
    const second = await open((request, response) => {
      if (request.url.endsWith('-stream'))
        replyJson(response, 400, { message: 'The model is unsupported for streaming.' });
      else replyJson(response, 429, { message: 'slow down' }, { 'retry-after': '7' });
    });
    const limited = await second.host.post(CHAT, ask('hi', { model: MISTRAL, stream: true }));
    expect([limited.status, limited.headers.get('retry-after')]).to.deep.equal([429, '7']);
  });

  it('tells what went wrong, keeps the hint to wait, and calls once', async () => {
    const expected = {
      400: [400, 'invalid_request'],
      403: [502, 'upstream_auth_error'],
      404: [404, 'model_not_found'],
      429: [429, 'rate_limit_exceeded'],
      500: [502, 'upstream_error'],
      307: [502, 'upstream_error'],
    } as const;
    for (const [status, said] of Object.entries(expected)) {
      const { host, upstream } = await open((_request, response) =>
        replyJson(
          response,
          Number(status),
          { message: `no ${KEYS.AWS_SECRET_ACCESS_KEY}` },
          { location: 'http://127.0.0.1:1/', 'retry-after': '9' },
        ),
      );
      for (const [model] of FAMILIES) {
        for (const streams of [false, true]) {
          const answer = await host.post(CHAT, ask('hi', { model, stream: streams }));
          expect([answer.status, answer.json().error.code], `${status} of ${model}`).to.deep.equal(said);
          expect(answer.headers.get('retry-after'), `${status} of ${model}`).to.equal('9');
          expect(answer.text + JSON.stringify(host.lines), `${status} of ${model}`).to.not.include(
            KEYS.AWS_SECRET_ACCESS_KEY,
          );
        }
      }
      expect(upstream.seen, status).to.have.length(2 * FAMILIES.length);
    }
  });

  it('fails a stream that begins with an exception like an answer, and ends one that breaks with an error', async () => {
    const { host } = await open((_request, response) =>
      stream(response, exception('throttlingException', { message: 'slow down' })),
    );
    expect((await host.post(CHAT, ask('hi', { model: NOVA, stream: true }))).status).to.equal(429);
    const text = event('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'so far' } });
    const broken = await open((_request, response) =>
      stream(response, Buffer.concat([text, exception('modelStreamErrorException', { message: 'it broke' })])),
    );
    const events = (await broken.host.post(CHAT, ask('hi', { model: NOVA, stream: true }))).events();
    expect(events[0].choices[0].delta.content).to.equal('so far');
    expect(events.at(-1).error).to.deep.include({
      message: 'modelStreamErrorException: it broke',
      code: 'stream_error',
    });
  });

  it('lets go of the service when the client leaves', async () => {
    const left = Promise.withResolvers<void>();
    const { host } = await open((_request, response) => {
      response.on('close', () => left.resolve());
      response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
      response.write(event('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'so far' } }));
    });
    const controller = new AbortController();
    const response = await fetch(`${host.url}${CHAT}`, {
      method: 'POST',
      signal: controller.signal,
      headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(ask('hi', { model: NOVA, stream: true })),
    });
    const { value } = await (response.body as ReadableStream<Uint8Array>).getReader().read();
    expect(Buffer.from(value as Uint8Array).toString()).to.include('so far');
    controller.abort();
    await left.promise;
  });

  it('refuses parameters a family cannot express, before any call, and names the model first', async () => {
    const { host, upstream } = await open(
      (_request, response) => {
        response.end();
      },
      { compatibility: { on_unsupported_param: 'reject' } },
    );
    const refused = {
      [CLAUDE]: { seed: 1 },
      [NOVA]: { parallel_tool_calls: false },
      [TITAN]: { tools: [TIDE] },
      [LLAMA]: { stop: ['x'] },
      [MISTRAL]: { user: 'u' },
    };
    for (const [model, more] of Object.entries(refused)) {
      const { code, message } = (await host.post(CHAT, ask('hi', { model, ...more }))).json().error;
      expect(code, model).to.equal('unsupported_parameter');
      expect(message, model).to.include('bedrock').and.include(Object.keys(more)[0]);
    }
    const other = await host.post(CHAT, ask('hi', { model: OTHERS[1], seed: 1 }));
    expect([other.status, other.json().error.code]).to.deep.equal([400, 'invalid_request']);
    const picture = await host.post('/v1/images/generations', {
      model: OTHERS[1],
      prompt: 'x',
      response_format: 'url',
    });
    expect([picture.status, picture.json().error.code]).to.deep.equal([400, 'unsupported_parameter']);
    expect(upstream.seen).to.deep.equal([]);
  });

  it('embeds, makes images and reranks', async () => {
    const { host } = await open((request, response) => {
      if (request.url === '/rerank') replyJson(response, 200, fixture('rerank/reply.json'));
      else
        replyJson(
          response,
          200,
          fixture(request.url.includes('embed') ? 'embeddings/titan-reply.json' : 'images/amazon-reply.json'),
        );
    });
    const embedded = (
      await host.post('/v1/embeddings', { model: OTHERS[0], input: ['first', 'second', 'third'] })
    ).json();
    expect(embedded.data.map(({ embedding }: any) => embedding)).to.deep.equal(
      Array.from({ length: 3 }, () => [0.25, -0.5, 1]),
    );
    expect(embedded.usage).to.deep.equal({ prompt_tokens: 9, total_tokens: 9 });
    const made = (await host.post('/v1/images/generations', { model: OTHERS[1], prompt: 'a harbour', n: 2 })).json();
    expect(made.data).to.deep.equal([{ b64_json: 'aW1hZ2Ux' }, { b64_json: 'aW1hZ2Uy' }]);
    const ranked = await host.post('/v1/rerank', {
      model: OTHERS[2],
      query: 'q',
      documents: ['a', 'b', 'c'],
      top_n: 2,
    });
    expect(ranked.json().results.map(({ index }: any) => index)).to.deep.equal([2, 0]);
    expect(
      (await host.post('/v1/rerank', { model: OTHERS[2], query: 'q', documents: ['a'], top_n: -1 })).status,
    ).to.equal(400);
  });

  it('sends nothing without a credential', async () => {
    const kept = { ...process.env };
    atEnd(() => {
      process.env = kept;
    });
    process.env = {
      ...Object.fromEntries(Object.entries(kept).filter(([name]) => !name.startsWith('AWS_'))),
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    };
    const { host, upstream } = await open(
      (_request, response) => replyJson(response, 200, {}),
      {},
      { AWS_REGION: 'us-east-1' },
    );
    const answer = await host.post(CHAT, ask('hi', { model: NOVA }));
    expect([answer.status, answer.json().error.code, upstream.seen.length]).to.deep.equal([502, 'upstream_error', 0]);
  });
});
