import { expect } from 'chai';
import { NO_CATALOG } from '../../host/common/catalog.ts';
import type { Cost } from '../../host/contract/index.ts';
import { sealEnvelope } from '../../builtins/wires/envelope.ts';
import { replyJson, startHost, stubUpstream, type StubUpstream, type TestHost } from '../kit/index.ts';

const ABLE = { passthrough: true, responses: 'native' as const };
const COMPACT = '/v1/responses/compact';
const COUNT = '/v1/responses/input_tokens';
const USAGE = { input_tokens: 100, output_tokens: 50, total_tokens: 150 };
const CODES = (answer: { readonly status: number; json(): any }): readonly unknown[] => [
  answer.status,
  answer.json().error?.code,
];

async function start(
  config: object = {},
  module: object = ABLE,
): Promise<{ readonly t: TestHost; readonly upstream: StubUpstream }> {
  const upstream = await stubUpstream(({ url }, response) =>
    replyJson(
      response,
      200,
      url.endsWith('/input_tokens')
        ? { object: 'response.input_tokens', input_tokens: 9 }
        : { id: 'resp_1', object: 'response.compaction', output: [], usage: USAGE },
    ),
  );
  return {
    upstream,
    t: await startHost({ targets: [upstream.target('a', { model_map: { m: 'real' } }, module)], ...config }),
  };
}

describe('requests of the Responses API beside the one that makes a response', () => {
  for (const path of [COMPACT, COUNT]) {
    it(`go to the owner of their model, whose name alone is rewritten: ${path}`, async () => {
      const { t, upstream } = await start({ aliases: { quick: 'm' }, responses_target: undefined });
      const body = '{ "input": [{"model":"inner"}],\n "model" : "qu\\u0069ck", "n": 1e400 }';
      const answer = await t.request('POST', path, body);
      expect(answer.status, answer.text).to.equal(200);
      expect(upstream.seen.map(({ url, text }) => [url, text])).to.deep.equal([
        [path.slice(3), body.replace('"qu\\u0069ck"', '"real"')],
      ]);
      expect(answer.headers.get('x-gateway-provider')).to.equal('a');
    });

    it(`are refused as it is, and nothing is sent: ${path}`, async () => {
      const { t, upstream } = await start();
      for (const [body, headers, expected] of [
        ['{}', {}, [400, 'invalid_request']],
        ['{"model":"other"}', {}, [404, 'model_not_found']],
        ['{"model":"m","model":"n"}', {}, [400, 'invalid_request']],
        ['{"model":"m"}', { 'x-provider': 'b' }, [404, 'provider_not_found']],
      ] as const) {
        expect(CODES(await t.request('POST', path, body, headers)), body).to.deep.equal(expected);
      }
      for (const method of ['GET', 'DELETE', 'PUT']) {
        const answer = await t.request(method, path);
        expect([...CODES(answer), answer.headers.get('allow')]).to.deep.equal([405, 'method_not_supported', 'POST']);
      }
      expect(upstream.seen).to.deep.equal([]);
    });

    it(`are 501 where their target is translated, or has another API: ${path}`, async () => {
      for (const [config, module] of [
        [{ responses: { translate: 'auto' } }, { ...ABLE, responses: true }],
        [{}, { ...ABLE, wire: 'native' as const }],
        [{}, { passthrough: true }],
      ] as const) {
        const { t, upstream } = await start({ responses_target: 'a', ...config }, module);
        expect(CODES(await t.post(path, { model: 'm', input: 'hi' }))).to.deep.equal([501, 'proxy_not_supported']);
        expect(upstream.seen).to.deep.equal([]);
      }
    });

    it(`lose reasoning that only this gateway can read: ${path}`, async () => {
      const { t, upstream } = await start({ responses: { translate: 'auto' } });
      await t.post(path, {
        model: 'm',
        input: [
          { type: 'reasoning', summary: [], encrypted_content: sealEnvelope([]) },
          { role: 'user', content: 'hi' },
        ],
      });
      expect(upstream.seen[0]?.json()['input']).to.deep.equal([{ role: 'user', content: 'hi' }]);
    });

    it(`are read by guardrails: ${path}`, async () => {
      const { t, upstream } = await start({
        plugins: [
          { name: 'word-filter', stage: 'before_request', enabled: true, config: { blocked_words: ['forbidden'] } },
        ],
      });
      expect(CODES(await t.post(path, { model: 'm', input: 'a forbidden word' }))).to.deep.equal([
        400,
        'request_rejected',
      ]);
      expect(upstream.seen).to.deep.equal([]);
    });
  }

  it('tell what a compaction used, and not what a count found', async () => {
    const { t } = await start();
    await t.post(COMPACT, { model: 'm', input: 'hi' });
    await t.post(COUNT, { model: 'm', input: 'hi' });
    expect(
      t.lines
        .filter(({ msg }) => msg === 'pass-through request completed')
        .map(({ tokens_in, tokens_out }) => [tokens_in, tokens_out]),
    ).to.deep.equal([
      [100, 50],
      [0, 0],
    ]);
  });

  it('keep a ceiling, which a count is not asked for', async () => {
    const { t } = await start({
      plugins: [
        {
          name: 'max-token',
          stage: 'before_request',
          enabled: true,
          config: { max_tokens: 10, max_input_length: 1000 },
        },
      ],
    });
    const ask = { model: 'm', input: 'hi', max_output_tokens: 11 };
    expect(CODES(await t.post(COMPACT, ask))).to.deep.equal([400, 'request_rejected']);
    expect((await t.post(COUNT, ask)).status).to.equal(200);
  });

  it('are paid for, but for a count', async () => {
    const { t, upstream } = await start();
    const cost: Cost = {
      totalUsd: 0.6,
      inputUsd: 0.6,
      outputUsd: 0,
      cacheReadUsd: 0,
      cacheWriteUsd: 0,
      reasoningUsd: 0,
      modelFound: true,
      priced: true,
      catalog: 'test',
    };
    t.host.services.catalog = {
      ...NO_CATALOG,
      cost: () => cost,
      tokenPrice: () => ({
        input: 2,
        output: 3,
        cacheRead: undefined,
        cacheWrite: undefined,
        embedding: undefined,
        image: undefined,
      }),
    };
    const { key } = await t.host.stores.keys.create({ name: 'k', scopes: ['read_only'], limits: { budget_usd: 0.5 } });
    const ask = async (path: string): Promise<number> =>
      (await t.post(path, { model: 'm', input: 'hi' }, { authorization: `Bearer ${key}` })).status;
    expect([
      await ask(COUNT),
      await ask(COMPACT),
      await ask(COMPACT),
      await ask('/v1/responses'),
      await ask(COUNT),
    ]).to.deep.equal([200, 200, 402, 402, 200]);
    expect(upstream.seen).to.have.length(3);
    expect(
      t.lines.filter(({ msg }) => msg === 'pass-through request completed').map(({ cost_usd: usd }) => usd),
    ).to.deep.equal([0, 0.6, 0]);
  });

  it('are not ids of responses', async () => {
    const { t, upstream } = await start({ responses_target: 'a' });
    expect((await t.get('/v1/responses/compactx')).status).to.equal(200);
    expect((await t.get('/v1/responses/resp_1/input_items')).status).to.equal(200);
    expect((await t.get(COMPACT)).status).to.equal(405);
    expect(upstream.seen.map(({ url }) => url)).to.deep.equal(['/responses/compactx', '/responses/resp_1/input_items']);
  });
});
