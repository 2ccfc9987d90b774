import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import Joi from 'joi';
import { commonTranslators } from 'gw/common-wire';
import { definePlugin, GatewayError, type PluginModule, reject } from 'gw/contract';
import {
  type Answer,
  ask,
  chatReply,
  fakeClock,
  replyJson,
  replyStream,
  sseEvent,
  startHost,
  stubUpstream,
  type StubUpstream,
  temporaryFolder,
} from '../kit/index.ts';

const PATH = '/v1/chat/completions';
const HEADERS = ['x-gateway-provider', 'x-gateway-target', 'x-gateway-model', 'x-gateway-attempts'];

const healthy = (): Promise<StubUpstream> =>
  stubUpstream((request, response) => {
    if (request.json()['stream'] === true) replyStream(response, ['hello']);
    else replyJson(response, 200, chatReply('hello'));
  });

const attribution = ({ headers }: Answer): (string | null)[] => HEADERS.map((name) => headers.get(name));
const NONE = HEADERS.map(() => null);

/** Rejects at the stage it is listed at. */
const denier: PluginModule = definePlugin({
  name: 'denier',
  type: 'guardrail',
  summary: 'Rejects everything',
  stages: ['before_request', 'after_request'],
  settings: Joi.object({}),
  create: () => ({ before_request: () => reject('no'), after_request: () => reject('no') }),
});

describe('attribution headers', () => {
  it('tell provider, target, upstream model and attempts of an answer, whole or streamed', async () => {
    const upstream = await healthy();
    const host = await startHost({ targets: [upstream.target('a', { model_map: { m: 'vendor-m' } })] });
    for (const stream of [false, true])
      expect(attribution(await host.post(PATH, ask('hi', { stream })))).to.deep.equal(['a', 'a', 'vendor-m', '1']);
  });

  it('stand before the body of a stream', async () => {
    const first = Promise.withResolvers<void>();
    const upstream = await stubUpstream(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n');
      await first.promise;
      response.end('data: [DONE]\n\n');
    });
    const host = await startHost({ targets: [upstream.target('a')] });
    const response = await fetch(`${host.url}${PATH}`, {
      method: 'POST',
      body: JSON.stringify(ask('hi', { stream: true })),
      headers: { authorization: 'Bearer gw_0123456789abcdef0123456789abcdef' },
    });
    expect(response.headers.get('x-gateway-attempts')).to.equal('1');
    first.resolve();
    await response.text();
  });

  it('are absent where no target was attempted', async () => {
    const upstream = await healthy();
    const host = await startHost(
      { targets: [upstream.target('a')], plugins: [{ name: 'denier', stage: 'before_request', enabled: true }] },
      { modules: [denier] },
    );
    for (const answer of [
      await host.post(PATH, ask()),
      await host.post(PATH, ask('hi', { stream: true })),
      await host.post(PATH, ask('hi', { model: 'nosuch' })),
      await host.post(PATH, '{'),
      await host.get(PATH),
      await host.post(PATH, ask(), { authorization: 'Bearer wrong' }),
    ]) {
      expect(answer.status).to.be.above(399);
      expect(attribution(answer), answer.text).to.deep.equal(NONE);
    }
  });

  it('do not count a target whose wire cannot hold the request', async () => {
    const broken = await stubUpstream((_request, response) => replyJson(response, 500, {}));
    const upstream = await healthy();
    const unable = upstream.target(
      'b',
      {},
      {
        translators: {
          chat: {
            ...commonTranslators(['chat'], {}).chat!,
            toUpstream: () => {
              throw new GatewayError('invalid_request', 'no');
            },
          },
        },
      },
    );
    for (const stream of [false, true]) {
      const alone = await startHost({ targets: [unable] });
      expect(attribution(await alone.post(PATH, ask('hi', { stream })))).to.deep.equal(NONE);
      const second = await startHost({
        strategy: { mode: 'fallback' },
        targets: [broken.target('a', { model_map: { m: 'vendor-m' } }), unable],
      });
      const answer = await second.post(PATH, ask('hi', { stream }));
      expect([answer.status, ...attribution(answer)]).to.deep.equal([400, 'a', 'a', 'vendor-m', '1']);
    }
    expect(upstream.seen).to.deep.equal([]);
  });

  it('are there when the answer is withheld', async () => {
    const upstream = await healthy();
    const host = await startHost(
      { targets: [upstream.target('a')], plugins: [{ name: 'denier', stage: 'after_request', enabled: true }] },
      { modules: [denier] },
    );
    const answer = await host.post(PATH, ask());
    expect(answer.status).to.equal(502);
    expect(attribution(answer)).to.deep.equal(['a', 'a', 'm', '1']);
  });

  it('hold a model that no header can hold in an encoded form', async () => {
    const upstream = await healthy();
    const host = await startHost({ targets: [upstream.target('a', { models: ['modèle\u{1f600}'] })] });
    const answer = await host.post(PATH, ask('hi', { model: 'modèle\u{1f600}' }));
    expect(answer.status).to.equal(200);
    expect(decodeURIComponent(answer.headers.get('x-gateway-model') ?? '')).to.equal('modèle\u{1f600}');
  });

  it('are a kilobyte at most, whatever the request holds and a plugin adds', async () => {
    const upstream = await healthy();
    const adder = definePlugin({
      name: 'adder',
      type: 'transform',
      summary: 'Adds a header',
      stages: ['before_request'],
      settings: Joi.object({}),
      keepsModel: true,
      create: () => ({
        before_request: (exchange) => exchange.setHeader('X-Added', String(exchange.request['added'])),
      }),
    });
    const chat = { ...commonTranslators(['chat'], {}).chat! };
    const wire = {
      ...chat,
      toUpstream: (...given: Parameters<typeof chat.toUpstream>) => ({
        ...chat.toUpstream(...given),
        ignored: Object.keys(given[0]).filter((name) => name.startsWith('field')),
      }),
    };
    const plugins = [{ name: 'adder', stage: 'before_request', enabled: true }];
    const host = await startHost(
      { targets: [upstream.target('a', { models: [] }, { anyModel: true, translators: { chat: wire } })], plugins },
      { modules: [adder] },
    );
    for (const [letter, bytes] of [
      ['x', 1],
      ['\u0001', 3],
      ['é', 6],
      ['€', 9],
      ['\u{1f600}', 12],
    ] as const) {
      const fields = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`field${letter.repeat(8)}${at}`, 1]));
      for (const stream of [false, true]) {
        const answer = await host.post(
          PATH,
          ask('hi', { model: letter.repeat(2000), stream, added: letter.repeat(3000), ...fields }),
        );
        expect(answer.status, answer.text).to.equal(200);
        for (const name of ['x-gateway-ignored-params', 'x-gateway-model', 'x-added']) {
          const value = answer.headers.get(name) ?? '';
          expect(value.length, `${name} of ${bytes} bytes each`).to.be.within(
            name === 'x-gateway-model' ? 256 : 1000,
            1024,
          );
          expect(decodeURIComponent(value), name).to.match(/[^\ufffd]…$/u);
        }
      }
    }
    for (const { msg, params } of host.lines)
      if (msg === 'parameters ignored by the provider') expect(params.length).to.be.within(1000, 1025);
  });

  it('hold what fits as it is', async () => {
    const upstream = await healthy();
    const models = ['m'.repeat(256), 'é'.repeat(170)];
    const host = await startHost({ targets: [upstream.target('a', { models })] });
    for (const model of models)
      expect(
        decodeURIComponent((await host.post(PATH, ask('hi', { model }))).headers.get('x-gateway-model') ?? ''),
      ).to.equal(model);
  });
});

describe('the model that a router chose', () => {
  const HEADER = 'x-gateway-upstream-model';
  const chunk = (model: string, delta: object, more: object = {}): string =>
    sseEvent({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model,
      choices: [{ index: 0, delta, finish_reason: null, ...more }],
    });
  const answering = (model: unknown, stream: readonly string[] = []): Promise<StubUpstream> =>
    stubUpstream((request, response) => {
      if (request.json()['stream'] !== true) return replyJson(response, 200, { ...chatReply('x'), model });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const text of stream) response.write(text);
      response.end('data: [DONE]\n\n');
    });

  it('is named beside the one that was asked for, whole and streamed, and the answer has the name of the latter', async () => {
    const upstream = await answering('vendor/chosen-2', [
      chunk('vendor/chosen-2', { content: 'x' }),
      chunk('vendor/chosen-2', {}, { finish_reason: 'stop' }),
    ]);
    const host = await startHost({ targets: [upstream.target('a', { model_map: { m: 'openrouter/auto' } })] });
    for (const stream of [false, true]) {
      const answer = await host.post(PATH, ask('hi', { stream }));
      expect([answer.headers.get('x-gateway-model'), answer.headers.get(HEADER)]).to.deep.equal([
        'openrouter/auto',
        'vendor/chosen-2',
      ]);
      expect(stream ? answer.events()[0].model : answer.json().model).to.equal('m');
    }
  });

  it('goes by the first chunk that names one', async () => {
    const upstream = await answering('', [
      sseEvent({ id: '', object: '', created: 0, model: '', choices: [], prompt_filter_results: [] }) +
        chunk('gpt-5-nano', { content: 'x' }),
      chunk('gpt-5-nano', {}, { finish_reason: 'stop' }),
    ]);
    const host = await startHost({ targets: [upstream.target('a')] });
    expect((await host.post(PATH, ask('hi', { stream: true }))).headers.get(HEADER)).to.equal('gpt-5-nano');
  });

  it('is not named where it is the one that was asked for, or has no name', async () => {
    for (const model of ['m', '', undefined, 7, null]) {
      const host = await startHost({ targets: [(await answering(model)).target('a')] });
      expect((await host.post(PATH, ask())).headers.get(HEADER), String(model)).to.equal(null);
    }
  });

  it('is that of the target that served, and of a failed one nothing is left', async () => {
    const [first, second] = [
      await stubUpstream((_request, response) => replyJson(response, 200, { model: 'other', choices: [] })),
      await answering('m'),
    ];
    const host = await startHost({ strategy: { mode: 'fallback' }, targets: [first.target('a'), second.target('b')] });
    const answer = await host.post(PATH, ask());
    expect([answer.headers.get('x-gateway-target'), answer.headers.get(HEADER)]).to.deep.equal(['b', null]);
  });

  it('is what the price goes by where the name that was asked for has none, on every surface', async () => {
    const upstream = await stubUpstream((_request, response) =>
      replyJson(response, 200, {
        model: 'priced',
        data: [{ embedding: [1], index: 0 }],
        usage: { prompt_tokens: 1_000_000, total_tokens: 1_000_000 },
      }),
    );
    const seen: unknown[] = [];
    const overlay = join(await temporaryFolder(), 'prices.json');
    await writeFile(
      overlay,
      JSON.stringify({ 'a/priced': { mode: 'embedding', pricing: { embedding_per_m_tokens: 0.02 } } }),
    );
    const spy = definePlugin({
      ...denier,
      name: 'spy',
      stages: ['after_request'],
      create: () => ({
        after_request: ({ measurements }) => {
          seen.push(measurements.costUsd);
        },
      }),
    });
    const host = await startHost(
      {
        targets: [upstream.target('a', {}, { translators: commonTranslators(['chat', 'embeddings'], {}) })],
        plugins: [{ name: 'spy', stage: 'after_request', enabled: true }],
      },
      { modules: [spy], variables: { GW_MODEL_CATALOG_OVERLAY: overlay } },
    );
    const answer = await host.post('/v1/embeddings', { model: 'm', input: 'x' });
    expect([answer.status, answer.headers.get(HEADER), answer.json().model]).to.deep.equal([200, 'priced', 'm']);
    expect(seen).to.deep.equal([0.02]);
  });

  it('may be read by browsers', async () => {
    const upstream = await answering('other');
    const host = await startHost(
      { targets: [upstream.target('a')] },
      { variables: { CORS_ORIGINS: 'https://app.example' } },
    );
    const answer = await host.post(PATH, ask(), { origin: 'https://app.example' });
    expect(answer.headers.get('access-control-expose-headers')?.split(', ')).to.include('X-Gateway-Upstream-Model');
  });
});

describe('timing headers', () => {
  it("tell the gateway's own time, of whole answers alone", async () => {
    const upstream = await healthy();
    const host = await startHost({ targets: [upstream.target('a')] });
    const whole = await host.post(PATH, ask());
    expect(whole.headers.get('x-gateway-overhead-ms')).to.match(/^\d+\.\d{3}$/);
    expect(whole.headers.get('server-timing')).to.match(/^gw;dur=\d+(\.\d+)?, upstream;dur=\d+(\.\d+)?$/);
    expect((await host.post(PATH, ask('hi', { stream: true }))).headers.get('x-gateway-overhead-ms')).to.equal(null);
  });

  it("count the provider as the upstream's time", async () => {
    const clock = fakeClock();
    const upstream = await stubUpstream((_request, response) => {
      clock.advance(120);
      replyJson(response, 200, chatReply('x'));
    });
    const host = await startHost({ targets: [upstream.target('a')] }, { clock });
    const { headers } = await host.post(PATH, ask());
    expect(headers.get('server-timing')).to.match(/upstream;dur=120(\.0+)?$/);
    expect(Number(headers.get('x-gateway-overhead-ms'))).to.equal(0);
  });
});

describe('unsupported parameters', () => {
  const request = { user: 'u', seed: 1, zebra: 'z', temperature: 1 };
  const chat = { ...commonTranslators(['chat'], {}).chat! };
  const params = { user: 'unsupported', seed: 'unsupported', top_p: 'unsupported' } as const;
  /** A wire that besides cannot carry `zebra`. */
  const wire = {
    ...chat,
    toUpstream: (...given: Parameters<typeof chat.toUpstream>) => ({
      ...chat.toUpstream(...given),
      ignored: ['zebra'],
    }),
  };

  const post = async (
    policy: string | undefined,
    stream = false,
  ): Promise<{ answer: Answer; upstream: StubUpstream; warnings: number }> => {
    const upstream = await healthy();
    const host = await startHost({
      targets: [upstream.target('a', {}, { params, translators: { chat: wire } })],
      ...(policy !== undefined && { compatibility: { on_unsupported_param: policy } }),
    });
    const answer = await host.post(PATH, ask('hi', { ...request, stream }));
    return { answer, upstream, warnings: host.lines.filter(({ level }) => level === 'WARN').length };
  };

  for (const policy of [undefined, 'warn']) {
    it(`are named and forwarded: ${policy ?? 'by default'}`, async () => {
      for (const stream of [false, true]) {
        const { answer, upstream } = await post(policy, stream);
        expect(answer.headers.get('x-gateway-ignored-params')).to.equal('seed, user, zebra');
        expect(upstream.seen[0]?.json()).to.include({ user: 'u', seed: 1 });
      }
    });
  }

  it('are removed under drop, and not named', async () => {
    const { answer, upstream } = await post('drop');
    expect(answer.headers.get('x-gateway-ignored-params')).to.equal(null);
    expect(upstream.seen[0]?.json()).to.not.have.any.keys('user', 'seed');
    expect(upstream.seen[0]?.json()).to.include({ temperature: 1 });
  });

  it('are refused under reject, all named in order with the provider, without a call', async () => {
    for (const stream of [false, true]) {
      const { answer, upstream } = await post('reject', stream);
      expect(answer.status).to.equal(400);
      expect(answer.json().error).to.include({ type: 'invalid_request_error', code: 'unsupported_parameter' });
      expect(answer.json().error.message).to.match(/\ba\b.*seed.*user/);
      expect(attribution(answer)).to.deep.equal(['a', 'a', 'm', '1']);
      expect(upstream.seen).to.deep.equal([]);
    }
  });

  it('are all named under reject, what the wire cannot carry too', async () => {
    expect((await post('reject')).answer.json().error.message).to.match(/seed, user, zebra/);
  });

  it('are named in the order of the matrix by every wire; a native one refuses them in an order of its own', async () => {
    const upstream = await healthy();
    const target = upstream.target(
      'a',
      {},
      { wire: 'native', params: { logprobs: 'unsupported', parallel_tool_calls: 'unsupported' } },
    );
    const body = ask('hi', { parallel_tool_calls: false, logprobs: true });
    const forwarded = await (await startHost({ targets: [target] })).post(PATH, body);
    expect(forwarded.headers.get('x-gateway-ignored-params')).to.equal('logprobs, parallel_tool_calls');
    const refused = await (
      await startHost({ targets: [target], compatibility: { on_unsupported_param: 'reject' } })
    ).post(PATH, body);
    expect(refused.json().error.message).to.include('parallel_tool_calls, logprobs');
  });

  it('are warned of once for each attempt, in the log', async () => {
    expect((await post('warn')).warnings).to.equal(1);
    expect((await post('drop')).warnings).to.equal(1);
  });

  it('are those of the target that served, after a failover', async () => {
    const [first, second] = [await stubUpstream((_request, response) => replyJson(response, 500, {})), await healthy()];
    const host = await startHost({
      strategy: { mode: 'fallback' },
      targets: [first.target('a', {}, { params }), second.target('b')],
    });
    const answer = await host.post(PATH, ask('hi', request));
    expect(answer.headers.get('x-gateway-target')).to.equal('b');
    expect(answer.headers.get('x-gateway-ignored-params')).to.equal(null);
  });

  it('may depend on the model', async () => {
    const upstream = await healthy();
    const paramsFor = (model: string): object => (model === 'strict' ? { seed: 'unsupported' } : {});
    const host = await startHost({
      targets: [upstream.target('a', { models: ['m', 'strict'] }, { paramsFor } as never)],
    });
    expect((await host.post(PATH, ask('hi', { seed: 1 }))).headers.get('x-gateway-ignored-params')).to.equal(null);
    expect(
      (await host.post(PATH, ask('hi', { seed: 1, model: 'strict' }))).headers.get('x-gateway-ignored-params'),
    ).to.equal('seed');
  });
});
