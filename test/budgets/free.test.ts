import { expect } from 'chai';
import { isFreeBy } from '../../host/generation/call-prices.ts';
import {
  ask,
  chatReply,
  eventually,
  replyJson,
  startHost,
  stubUpstream,
  temporaryFolder,
  type TestHost,
} from '../kit/index.ts';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const CHAT = '/v1/chat/completions';
const PRICES = {
  input_per_m_tokens: 0,
  output_per_m_tokens: 0,
  cache_read_per_m_tokens: null,
  cache_write_per_m_tokens: null,
  reasoning_per_m_tokens: null,
  embedding_per_m_tokens: null,
  image_per_tile: null,
  audio_input_per_minute: null,
  audio_output_per_character: null,
};

const entry = (input: number): object => ({ mode: 'chat', pricing: { ...PRICES, input_per_m_tokens: input } });

/** A gateway whose catalog has a model without a price, one that costs nothing and one that is paid for. */
async function start(more: object = {}): Promise<TestHost> {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const upstream = await stubUpstream((_seen, response) => replyJson(response, 200, chatReply('hello', { usage })));
  const overlay = join(await temporaryFolder(), 'overlay.json');
  await writeFile(overlay, JSON.stringify({ 'openai/gratis': entry(0), 'groq/gratis': entry(1) }));
  return startHost(
    { targets: [{ virtual_key: 'openai', models: ['gratis', 'gpt-4o', 'nameless'] }], ...more },
    {
      variables: {
        GROQ_API_KEY: 'g-0123456789',
        OPENAI_API_KEY: 'k-0123456789',
        OPENAI_BASE_URL: `${upstream.url}/v1`,
        GW_MODEL_CATALOG_OVERLAY: overlay,
      },
    },
  );
}

/** Statuses of the models, in their order, and of a request that is passed through and only reads. */
async function statuses(t: TestHost, limits: object): Promise<number[]> {
  const { key } = await t.host.stores.keys.create({ name: 'k', scopes: ['read_only'], limits });
  const headers = { authorization: `Bearer ${key}` };
  const found: number[] = [];
  for (const model of ['gratis', 'gpt-4o', 'nameless'])
    found.push((await t.post(CHAT, { ...ask('hi'), model }, headers)).status);
  found.push((await t.get('/v1/videos/v', { ...headers, 'x-provider': 'openai' })).status);
  await eventually(() => t.host.slot.leases === 0);
  return found;
}

describe('a call that costs nothing, beyond a budget of dollars', () => {
  const zero = { budgets: [{ usd: 0 }] };
  for (const [name, config, limits] of [
    ['a key', {}, zero],
    ['an account', { accounts: [{ path: '/acme', ...zero }] }, { account: '/acme' }],
    ['a tag', { accounts: [{ path: '#t', ...zero }] }, { tags: ['t'] }],
    ['a limit that nothing may cross', {}, { budgets: [{ usd: 0, overrun: 'none' }] }],
  ] as const)
    it(`is served: ${name}`, async () => {
      const t = await start(config);
      const [free, paid, nameless, read] = await statuses(t, limits);
      expect([free, paid, read]).to.deep.equal([200, 402, 200]);
      expect(nameless).to.be.oneOf([400, 402]); // what is not known is not bounded either
    });

  it('is refused by `budget_usd`, and by budgets of other units', async () => {
    const t = await start();
    expect(await statuses(t, { budget_usd: 0 })).to.deep.equal([402, 402, 402, 402]);
    expect(await statuses(t, { budgets: [{ tokens: 0 }] })).to.deep.equal([402, 402, 402, 402]);
  });

  it('is not free where the target behind it has to be paid', async () => {
    const targets = [
      { virtual_key: 'openai', models: ['gratis'] },
      { virtual_key: 'groq', models: ['gratis'] },
    ];
    const t = await start({ targets, strategy: { mode: 'fallback' } });
    const { key } = await t.host.stores.keys.create({ name: 'k', scopes: ['read_only'], limits: zero });
    const answer = await t.post(CHAT, { ...ask('hi'), model: 'gratis' }, { authorization: `Bearer ${key}` });
    expect(answer.status).to.equal(402);
  });

  it('is known by all prices of a model', () => {
    for (const [pricing, expected] of [
      [PRICES, true],
      [{}, false],
      [{ ...PRICES, input_per_m_tokens: null, output_per_m_tokens: null }, false],
      [{ ...PRICES, output_per_m_tokens: 0.1 }, false],
      [{ ...PRICES, request: { low: 0, high: 1 } }, false],
      [{ ...PRICES, request: 0, audio_minimum_seconds: 10 }, true],
      [{ ...PRICES, lines: [{ when: { input_above: 9 }, times: 2 }] }, true],
      [{ ...PRICES, lines: [{ when: { input_above: 9 }, set: { input_per_m_tokens: 1 } }] }, false],
      [{ ...PRICES, images: [{ size: 'x', usd: 0 }] }, true],
      [{ ...PRICES, image_tool_model: 'gpt-image-1' }, false],
    ] as const)
      expect(isFreeBy(pricing), JSON.stringify(pricing)).to.equal(expected);
  });
});
