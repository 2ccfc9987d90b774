import { expect } from 'chai';
import { replyJson, startHost, stubUpstream, type StubUpstream, type TestHost } from '../kit/index.ts';

const ABLE = { passthrough: true, responses: true, batches: true };
const USAGE = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 40 },
  output_tokens: 50,
  output_tokens_details: { reasoning_tokens: 10 },
  total_tokens: 150,
};

async function start(
  config: object = {},
  module: object = ABLE,
  reply?: (body: any) => string,
): Promise<{ t: TestHost; upstream: StubUpstream }> {
  const upstream = await stubUpstream((request, response) => {
    if (reply)
      response
        .writeHead(200, { 'content-type': reply.name === 'stream' ? 'text/event-stream' : 'application/json' })
        .end(reply(request));
    else replyJson(response, 200, { id: 'resp_1', object: 'response', model: 'real-1', usage: USAGE });
  });
  const t = await startHost({
    targets: [upstream.target('a', { model_map: { m: 'real' }, pricing: undefined }, module)],
    ...config,
  });
  return { t, upstream };
}

describe('POST /v1/responses', () => {
  it('goes to the owner of its model, whose name alone is rewritten', async () => {
    const { t, upstream } = await start({ aliases: { quick: 'm' } });
    const body = '{ "input": [{"model":"inner"}], "stream": false,\n  "model" : "qu\\u0069ck", "n": 1e400 }';
    const answer = await t.request('POST', '/v1/responses', body, { 'accept-encoding': 'gzip' });
    expect(answer.status).to.equal(200);
    expect(upstream.seen[0]?.text).to.equal(body.replace('"qu\\u0069ck"', '"real"'));
    expect(upstream.seen[0]?.headers).to.not.have.property('accept-encoding');
    expect(answer.headers.get('x-gateway-provider')).to.equal('a');
    expect(answer.headers.get('x-gateway-attempts')).to.equal(null);
    const line = t.lines.find(({ msg }) => msg === 'pass-through request completed');
    expect(line).to.include({ tokens_in: 100, tokens_out: 50, model: 'm' });
  });

  it('is served beyond 1 MiB, wherever its model stands', async () => {
    const { t, upstream } = await start();
    const body = JSON.stringify({ input: 'x'.repeat(3 * 1024 * 1024), model: 'm' });
    expect((await t.request('POST', '/v1/responses', body)).status).to.equal(200);
    expect(upstream.seen[0]?.text.length).to.equal(body.length + 3);
    expect(upstream.seen[0]?.json().model).to.equal('real');
  });

  for (const end of ['\n', '\r\n', '\r'])
    it(`reads usage of a stream from its last event, however it is cut, and passes it on unaltered: lines end with ${JSON.stringify(end)}`, async () => {
      const lines = [
        { type: 'response.output_text.delta', delta: 'about "usage": {"input_tokens": 9}' },
        { type: 'response.completed', response: { model: 'real-1', usage: USAGE } },
      ]
        .map((event) => `event: ${event.type}${end}data: ${JSON.stringify(event)}${end}${end}`)
        .join('');
      const upstream = await stubUpstream((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
        for (const byte of Buffer.from(lines)) response.write(Buffer.from([byte]));
        response.end();
      });
      const t = await startHost({ targets: [upstream.target('a', {}, ABLE)] });
      const answer = await t.post('/v1/responses', { model: 'm', stream: true });
      expect(answer.text).to.equal(lines);
      const line = t.lines.find(({ msg }) => msg === 'pass-through request completed');
      expect(line).to.include({ tokens_in: 100, tokens_out: 50 });
      expect(t.samples.find(({ name }) => name === 'gateway_tokens_input_total')?.value).to.equal(100);
    });

  const refusals: readonly (readonly [
    what: string,
    body: string,
    headers: Record<string, string>,
    status: number,
    code: string,
  ])[] = [
    ['no model', '{}', {}, 400, 'invalid_request'],
    ['broken JSON', '{"model":', {}, 400, 'invalid_request'],
    ['an unknown model', '{"model":"other"}', {}, 404, 'model_not_found'],
    ['an unserved provider', '{"model":"m"}', { 'x-provider': 'b' }, 404, 'provider_not_found'],
    ['a model twice', '{"model":"m","model":"n"}', {}, 400, 'invalid_request'],
    ['capitals', '{"Model":"m","model":"m"}', {}, 400, 'invalid_request'],
    ['a ceiling that is not an integer', '{"model":"m","max_output_tokens":"9"}', {}, 400, 'invalid_request'],
  ];
  for (const [what, body, headers, status, code] of refusals) {
    it(`is ${status} ${code} with ${what}`, async () => {
      const { t, upstream } = await start();
      const answer = await t.request('POST', '/v1/responses', body, headers);
      expect([answer.status, answer.json().error.code]).to.deep.equal([status, code]);
      expect(upstream.seen).to.have.length(0);
    });
  }

  it('takes no other method', async () => {
    const { t } = await start();
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const answer = await t.request(method, '/v1/responses');
      expect([answer.status, answer.json().error.code, answer.headers.get('allow')]).to.deep.equal([
        405,
        'method_not_supported',
        'POST',
      ]);
    }
  });

  it('shows plugins its ceiling and its texts', async () => {
    const plugins = [
      { name: 'max-token', stage: 'before_request', enabled: true, config: { max_tokens: 10 } },
      { name: 'word-filter', stage: 'before_request', enabled: true, config: { blocked_words: ['forbidden'] } },
    ];
    const { t, upstream } = await start({ plugins });
    for (const body of [
      { model: 'm', max_output_tokens: 11 },
      { model: 'm', input: [{ content: [{ text: 'a Forbidden word' }] }] },
    ]) {
      const answer = await t.post('/v1/responses', body);
      expect([answer.status, answer.json().error.code]).to.deep.equal([400, 'request_rejected']);
    }
    expect(upstream.seen).to.have.length(0);
    expect((await t.post('/v1/responses', { model: 'm', max_output_tokens: 10, input: 'fine' })).status).to.equal(200);
  });
});

describe('stored responses', () => {
  it('go to responses_target, whatever the request names', async () => {
    const { t, upstream } = await start({ responses_target: 'a' });
    for (const [method, path] of [
      ['GET', '/resp_1?include=x'],
      ['DELETE', '/resp_1'],
      ['POST', '/resp_1/cancel'],
      ['GET', '/resp_1/input_items'],
    ] as const) {
      expect(
        (await t.request(method, `/v1/responses${path}`, undefined, { 'x-provider': 'unheard-of' })).status,
        path,
      ).to.equal(200);
      expect(upstream.seen.at(-1)).to.include({ method, url: `/responses${path}` });
    }
  });

  it('are 501 without it, and where its provider speaks another wire', async () => {
    const { t } = await start();
    const without = await t.get('/v1/responses/resp_1');
    expect([without.status, without.json().error.code]).to.deep.equal([501, 'responses_not_configured']);
    const native = await (
      await start({ responses_target: 'a' }, { ...ABLE, wire: 'native' })
    ).t.get('/v1/responses/resp_1');
    expect([native.status, native.json().error.code]).to.deep.equal([501, 'proxy_not_supported']);
  });
});

describe('files and batches', () => {
  it('go to batch_target with any method, also where its chat is another wire', async () => {
    const { t, upstream } = await start(
      { batch_target: 'a' },
      { wire: 'native', batches: true, forwardPath: '/openai/v1' },
    );
    for (const [method, path] of [
      ['GET', '/files'],
      ['POST', '/files'],
      ['DELETE', '/files/file-1'],
      ['GET', '/files/file-1/content'],
      ['POST', '/batches/b1/cancel'],
      ['PATCH', '/batches/b1'],
      ['GET', '/%66iles/x'],
    ] as const) {
      expect(
        (await t.request(method, `/v1${path}`, method === 'POST' ? 'x' : undefined, { 'x-provider': 'unheard-of' }))
          .status,
        path,
      ).to.equal(200);
      expect(upstream.seen.at(-1)).to.include({ method, url: `/openai/v1${path}` });
      expect(upstream.seen.at(-1)?.headers).to.not.have.property('x-provider');
    }
  });

  for (const [what, config, module] of [
    ['without batch_target', {}, ABLE],
    ['where its provider has none', { batch_target: 'a' }, { passthrough: true }],
  ] as const) {
    it(`are 501 ${what}`, async () => {
      const { t } = await start(config, module);
      for (const path of ['/v1/files', '/v1/files/x', '/v1/batches', '/v1/batches/x/cancel']) {
        const answer = await t.get(path, { 'x-provider': 'a' });
        expect([answer.status, answer.json().error.code], path).to.deep.equal([501, 'batch_not_configured']);
      }
    });
  }

  it('have no limit of size', async () => {
    const { t } = await start({ batch_target: 'a', max_request_bytes: 100 });
    expect((await t.request('POST', '/v1/files', 'x'.repeat(100_000))).status).to.equal(200);
  });
});

describe('a key with limits', () => {
  it('gets no model and no provider outside its lists, on any family', async () => {
    const upstream = await stubUpstream((_request, response) => replyJson(response, 200, {}));
    const t = await startHost({
      strategy: { mode: 'fallback' },
      batch_target: 'b',
      responses_target: 'b',
      targets: [upstream.target('a', { models: ['m', 'n'] }, ABLE), upstream.target('b', { models: ['other'] }, ABLE)],
    });
    const { key } = await t.host.stores.keys.create({
      name: 'limited',
      scopes: ['read_only'],
      limits: { models: ['m'], providers: ['a'] },
    });
    const call = async (method: string, path: string, body?: string, headers = {}): Promise<string> => {
      const answer = await t.request(method, path, body, { authorization: `Bearer ${key}`, ...headers });
      return answer.status === 200 ? '200' : `${answer.status} ${answer.json().error.code}`;
    };
    const jobs = '/v1/fine_tuning/jobs';
    expect([
      await call('POST', jobs, '{"model":"m"}'),
      await call('POST', jobs, '{"model":"n"}'),
      await call('POST', jobs, '{"model":"n"}', { 'x-provider': 'a' }),
      await call('POST', jobs, 'model=n', { 'x-provider': 'a' }),
      await call('GET', jobs, undefined, { 'x-provider': 'a' }),
      await call('GET', jobs, undefined, { 'x-provider': 'b' }),
      await call('POST', '/v1/responses', '{"model":"n"}'),
      await call('POST', '/v1/responses', '{"model":"m"}'),
      await call('GET', '/v1/files'),
      await call('GET', '/v1/responses/x'),
    ]).to.deep.equal([
      '200',
      '404 model_not_found',
      '404 model_not_found',
      '404 model_not_found',
      '200',
      '404 provider_not_found',
      '404 model_not_found',
      '200',
      '404 provider_not_found',
      '404 provider_not_found',
    ]);
  });
});
