import { expect } from 'chai';
import { UNITS } from '../../host/common/budgets/key-budget.ts';
import { ask, chatReply, eventually, replyJson, startHost, stubUpstream, type TestHost } from '../kit/index.ts';
import { gateway, type Probe, PROBES } from '../money/route-limits.ts';

const CHAT = '/v1/chat/completions';
const isCounting = ({ path }: Probe): boolean => /count|input_tokens/i.test(path);
/** What is counted by other units than tokens: such a call is a token or two. */
const isSmall = ({ path }: Probe): boolean => /rerank|moderations/.test(path);

/** Where a budget may stand, and what it is called. */
const LEVELS = [
  ['key', 'the key'],
  ['/acme', 'the account /acme'],
  ['/', 'the account /'],
  ['#nightly', 'the tag #nightly'],
] as const;

interface Scene {
  readonly t: TestHost;
  readonly calls: () => number;
  readonly send: (
    budgets: readonly object[],
    more?: object,
  ) => Promise<{ status: number; text: string; headers: Headers }>;
}

async function scene(used = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }): Promise<Scene> {
  const upstream = await stubUpstream((_seen, response) =>
    replyJson(response, 200, { ...chatReply('hello'), usage: used }),
  );
  const t = await startHost(
    { targets: [{ virtual_key: 'openai', models: ['gpt-4o', 'unknown-model'] }] },
    { variables: { OPENAI_API_KEY: 'k-0123456789', OPENAI_BASE_URL: `${upstream.url}/v1` } },
  );
  return {
    t,
    calls: () => upstream.seen.length,
    send: async (budgets, more = {}) => {
      const made = await t.host.stores.keys.create({ name: 'k', scopes: ['read_only'], limits: { budgets } });
      const answer = await t.post(
        CHAT,
        { ...ask('hi'), model: 'gpt-4o', max_tokens: 16, ...more },
        { authorization: `Bearer ${made.key}` },
      );
      return {
        status: answer.status,
        text: answer.text,
        headers: answer.headers,
      };
    },
  };
}

describe('a budget that nothing may cross', () => {
  for (const [path, name] of LEVELS)
    it(`refuses what does not fit whole, on every route, and sends nothing: ${name}`, async function tried() {
      this.timeout(60_000);
      const budgets = [{ tokens: 3, every: 'day', overrun: 'none' }];
      const accounts = ['/', '/acme', '#nightly'].map((each) => ({ path: each, ...(each === path && { budgets }) }));
      const g = await gateway([], { money: { unpriced: 'warn' }, accounts });
      const { bearer } = await g.key({ account: '/acme', tags: ['nightly'], ...(path === 'key' && { budgets }) });
      for (const probe of PROBES) {
        if (isCounting(probe) || isSmall(probe)) continue;
        const { status, text, headers } = await g.ask(probe, bearer);
        const what = `${probe.name} ${probe.path} ${text}`;
        expect(g.calls(), what).to.equal(0);
        expect(status, what).to.be.oneOf([400, 402]);
        if (status === 400) expect(text, what).to.include('this budget needs max_tokens');
        else {
          expect(text, what).to.match(/the call may need \d+ tokens, and 3 of 3 tokens are left for the day/);
          expect(text, what).to.include(`the budget of ${name}: `);
          expect(headers.get('x-gateway-budget'), what).to.include('unit=tokens, window=day, spent=0, limit=3');
        }
        expect(headers.get('retry-after'), what).to.equal(null);
      }
    });

  it('serves what fits on every route where the answer has a ceiling, and books no more than it', async function tried() {
    this.timeout(60_000);
    const limit = 100_000;
    const budgets = [
      { tokens: limit, every: 'day', overrun: 'none' },
      { requests: 1, overrun: 'none' },
    ];
    const g = await gateway([], { money: { unpriced: 'warn' } });
    const needCeiling = new Set<string>();
    for (const probe of PROBES) {
      if (isCounting(probe)) continue;
      const { bearer } = await g.key({ budgets });
      const { status, text } = await g.ask(probe, bearer);
      if (status === 400 && text.includes('needs max_tokens')) {
        needCeiling.add(probe.path);
        continue;
      }
      expect(status, `${probe.path} ${text}`).to.be.below(300);
      await eventually(() => g.t.host.slot.leases === 0);
      const again = await g.ask(probe, bearer);
      expect([again.status, again.text.includes('is spent: 1 of 1 requests')], probe.path).to.deep.equal([402, true]);
    }
    expect([...needCeiling]).to.deep.equal(['/v1/vendor/thing']); // a path of which it is not known what bounds it
  });

  it('says in each unit what the call may need, and what is left', async () => {
    const { send, calls } = await scene();
    const [, tokens] = await Promise.all([
      send([{ usd: 100, overrun: 'none' }]),
      send([{ tokens: 1000, every: '5h', overrun: 'none' }]),
    ]);
    expect(tokens?.status).to.equal(402);
    expect(tokens?.text).to.match(
      /the budget of the key: the call may need 1\d\d\d tokens, and 1000 of 1000 tokens are left for 5h; it begins again at /,
    );
    const usd = await send([{ usd: 0.001, every: 'month', overrun: 'none' }]);
    expect(usd.status).to.equal(402);
    expect(usd.text).to.match(
      /request rejected by budget \(before_request\): the budget of the key: the call may cost \$0\.00\d+, and \$0\.001 of \$0\.001 is left for the month; it begins again at /,
    );
    expect(usd.headers.get('x-gateway-budget')).to.include('unit=usd, window=month, spent=0, limit=1000');
    const none = await send([{ requests: 0, overrun: 'none' }]);
    expect([none.status, none.text.includes('the budget of the key is spent: 0 of 0 requests')]).to.deep.equal([
      402,
      true,
    ]);
    expect(calls(), 'the one of 100 dollars').to.equal(1);
  });

  it('takes what the model can answer for the ceiling of a call without one, reserve_tokens before that, and refuses what has no bound', async () => {
    const { send } = await scene();
    const status = async (budget: object, more: object): Promise<number> =>
      (await send([{ overrun: 'none', ...budget }], { max_tokens: undefined, ...more })).status;
    expect(await status({ tokens: 16_000 }, {}), 'gpt-4o answers 16,384').to.equal(402);
    expect(await status({ tokens: 20_000 }, {})).to.equal(200);
    expect(await status({ tokens: 16_000, reserve_tokens: 100 }, {})).to.equal(200);
    expect(await status({ tokens: 20_000 }, { n: 2 })).to.equal(402);
    const unknown = { model: 'unknown-model' };
    const refused = await send([{ tokens: 20_000, overrun: 'none' }], { max_tokens: undefined, ...unknown });
    expect([
      refused.status,
      refused.text.includes('request rejected by budget (before_request): this budget needs max_tokens'),
    ]).to.deep.equal([400, true]);
    expect(await status({ tokens: 20_000 }, { ...unknown, max_tokens: 16 })).to.equal(200);
    expect(await status({ tokens: 20_000, overrun: 'one' }, unknown)).to.equal(200);
  });

  it('takes an image of few bytes for all that the model can read', async () => {
    const { send } = await scene();
    const image = { type: 'image_url', image_url: { url: 'https://x.example/1.png' } };
    const messages = [{ role: 'user', content: [image] }];
    const text = { messages: [{ role: 'user', content: 'say "image_url" and "file"' }] };
    const status = async (tokens: number, more: object): Promise<number> =>
      (await send([{ tokens, overrun: 'none' }], more)).status;
    expect(await status(100_000, { messages })).to.equal(402);
    expect(await status(130_000, { messages })).to.equal(200);
    expect(await status(2000, text)).to.equal(200);
    expect(await status(130_000, { messages, model: 'unknown-model' })).to.equal(400);
  });

  it('lets calls that run at once use no more than there is, in each unit', async () => {
    const limits = { usd: 0.01, tokens: 5000, requests: 3 };
    for (const unit of UNITS) {
      const { t, calls } = await scene();
      const made = await t.host.stores.keys.create({
        name: 'k',
        scopes: ['read_only'],
        limits: { budgets: [{ [unit]: limits[unit], overrun: 'none' }] },
      });
      const send = (): Promise<{ status: number }> =>
        t.post(CHAT, { ...ask('hi'), model: 'gpt-4o', max_tokens: 16 }, { authorization: `Bearer ${made.key}` });
      const statuses = (await Promise.all(Array.from({ length: 20 }, send))).map(({ status }) => status);
      const most = { usd: 3, tokens: 4, requests: 3 }[unit];
      expect(
        statuses.filter((status) => status === 200),
        unit,
      ).to.have.length.within(1, 20);
      expect(calls(), unit).to.equal(statuses.filter((status) => status === 200).length);
      if (unit !== 'usd') expect(calls(), unit).to.be.at.least(most);
      for (let at = 0; at < 400 && (await send()).status === 200; at += 1);
      expect((await send()).status, unit).to.equal(402);
      await eventually(() => t.host.slot.leases === 0);
      const spent = t.host.stores.ledgers.value.peek('budgets', `k:${made.record.id}|${unit}|total|`).committed;
      expect(spent, unit).to.be.at.most(unit === 'usd' ? 10_000 : limits[unit]);
    }
  });
});
