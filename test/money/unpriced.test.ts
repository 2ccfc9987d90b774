import { expect } from 'chai';
import { chatReply, replyJson, type TestHost } from '../kit/index.ts';
import { CHAT, keyScene } from './kit.ts';

const UNKNOWN = 'not-in-the-catalog';
const answers = (_seen: unknown, response: Parameters<typeof replyJson>[0]): void =>
  replyJson(response, 200, chatReply('x', { usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }));
const budget = (config: object): object[] =>
  ['before_request', 'after_request'].map((stage) => ({
    name: 'budget',
    stage,
    enabled: true,
    config: { spend_limit_usd: 5, ...config },
  }));
const messageOf = async (response: Response): Promise<string> =>
  ((await response.json()) as { error: { message: string } }).error.message;

const figuresOf = ({ samples }: TestHost): readonly object[] =>
  samples.filter(({ name }) => name === 'gateway_unpriced_requests_total').map(({ labels }) => labels);

describe('a model without a price', () => {
  for (const [rule, config] of [
    ['warn', {}],
    ['warn', { money: { unpriced: 'warn' } }],
    ['allow', { money: { unpriced: 'allow' } }],
  ] as const) {
    it(`is served, and counted, where the document says ${JSON.stringify(config)}`, async () => {
      const { send, t, booked } = await keyScene(answers, { models: [UNKNOWN, 'gpt-4o'], ...config });
      for (let time = 0; time < 3; time += 1) expect((await send()).status).to.equal(200);
      await (await send({ model: 'gpt-4o' })).text();
      expect(await booked()).to.equal(10 * 2.5 + 5 * 10);
      const lines = t.lines.filter(({ msg }) => msg === 'model without a price');
      expect(lines.map(({ target, model, surface, action }) => ({ target, model, surface, action }))).to.deep.equal(
        rule === 'warn' ? [{ target: 'openai', model: UNKNOWN, surface: 'chat', action: 'warned' }] : [],
      );
      expect(figuresOf(t)).to.deep.equal(
        Array.from({ length: 3 }, () => ({
          provider: 'openai',
          model: UNKNOWN,
          action: rule === 'warn' ? 'warned' : 'allowed',
        })),
      );
    });
  }

  it('is refused before any call where the document says so, and one with a price is not', async () => {
    const { send, seen, t } = await keyScene(answers, {
      models: [UNKNOWN, 'gpt-4o'],
      money: { unpriced: 'refuse' },
    });
    for (const stream of [false, true]) {
      const response = await send({ stream });
      expect(response.status).to.equal(400);
      expect(await messageOf(response)).to.equal(
        `request rejected by budget (before_request): the model "${UNKNOWN}" has no price, and the key refuses what it cannot price`,
      );
    }
    expect(seen()).to.equal(0);
    const refused = { provider: 'none', model: UNKNOWN, action: 'refused' };
    expect(figuresOf(t)).to.deep.equal([refused, refused]);
    expect((await send({ model: 'gpt-4o' })).status).to.equal(200);
    expect(figuresOf(t)).to.have.lengthOf(2);
  });

  it('is not refused for a credential without a budget', async () => {
    const { t } = await keyScene(answers, { models: [UNKNOWN], money: { unpriced: 'refuse' } });
    expect((await t.post(CHAT, { model: UNKNOWN, messages: [{ role: 'user', content: 'hi' }] })).status).to.equal(200);
  });

  it('is refused by the plugin by its own setting alone', async () => {
    const { t, seen } = await keyScene(answers, { models: [UNKNOWN], plugins: budget({ unpriced: 'refuse' }) });
    const refused = await t.post(CHAT, { model: UNKNOWN, messages: [{ role: 'user', content: 'hi' }] });
    expect([refused.status, refused.json().error.message]).to.deep.equal([
      400,
      `request rejected by budget (before_request): the model "${UNKNOWN}" has no price, and this budget refuses what it cannot price`,
    ]);
    expect(seen()).to.equal(0);
    const other = await keyScene(answers, { models: [UNKNOWN], money: { unpriced: 'refuse' }, plugins: budget({}) });
    expect((await other.t.post(CHAT, { model: UNKNOWN, messages: [{ role: 'user', content: 'hi' }] })).status).to.equal(
      200,
    );
  });

  it('has a price under written rates, where it counts tokens', async () => {
    const { t } = await keyScene(answers, {
      models: [UNKNOWN],
      plugins: budget({ unpriced: 'refuse', input_per_m_tokens: 1 }),
    });
    expect((await t.post(CHAT, { model: UNKNOWN, messages: [{ role: 'user', content: 'hi' }] })).status).to.equal(200);
  });

  for (const [method, path, body, status] of [
    ['POST', '/v1/videos', { prompt: 'x' }, 400],
    ['POST', '/v1/fine_tuning/jobs', { model: 'gpt-4o' }, 400],
    ['PATCH', '/v1/x', {}, 400],
    ['POST', '/v1/batches/b/cancel', {}, 501],
    ['GET', '/v1/videos/v', undefined, 200],
    ['DELETE', '/v1/videos/v', undefined, 200],
    ['POST', '/v1/uploads', { filename: 'a' }, 200],
  ] as const) {
    it(`refuses what is forwarded and has none, and nothing that is free: ${method} ${path}`, async () => {
      const { t, seen } = await keyScene(answers, { money: { unpriced: 'refuse' } });
      const { key } = await t.host.stores.keys.create({ name: 'l', scopes: ['read_only'], limits: { budget_usd: 1 } });
      const response = await t.request(method, path, body, { authorization: `Bearer ${key}`, 'x-provider': 'openai' });
      expect(response.status, response.text).to.equal(status);
      if (status === 400) {
        expect(response.json().error.message).to.equal(
          `request rejected by budget (before_request): ${method} ${path} has no price, and the key refuses what it cannot price`,
        );
        expect(seen()).to.equal(0);
      }
    });
  }

  it('refuses a word that is none', async () => {
    const { t } = await keyScene(answers);
    const refused = await t.request('PUT', '/admin/config', { targets: [], money: { unpriced: 'never' } });
    expect([refused.status, refused.text]).to.satisfy(
      ([status, text]: [number, string]) => status === 400 && text.includes('CV89') && text.includes('money.unpriced'),
    );
  });
});
