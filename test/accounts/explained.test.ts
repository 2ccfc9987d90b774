import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { runCommand } from '../cli/commands.ts';
import {
  ask,
  cases,
  chatReply,
  Dice,
  eventually,
  isSoak,
  replyJson,
  startHost,
  stubUpstream,
  temporaryFolder,
  type TestHost,
} from '../kit/index.ts';

const MODELS = ['gpt-4o', 'gpt-4o-mini', 'unknown-model'] as const;
const CHAT = '/v1/chat/completions';

async function start(config: object): Promise<TestHost> {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const upstream = await stubUpstream((_seen, response) => replyJson(response, 200, chatReply('hello', { usage })));
  return startHost(
    {
      targets: [{ virtual_key: 'openai', models: MODELS }],
      aliases: { short: 'gpt-4o-mini' },
      money: { tags: { header: true } },
      ...config,
    },
    {
      variables: {
        OPENAI_API_KEY: 'k-0123456789',
        GROQ_API_KEY: 'g-0123456789',
        OPENAI_BASE_URL: `${upstream.url}/v1`,
      },
    },
  );
}

/** What may be said of an account, a tag or a key. */
function limitsBy(dice: Dice): object {
  const budget = (): object => ({
    ...dice.pick([
      { usd: dice.pick([0, 0.00003, 5]) },
      { tokens: dice.pick([0, 20, 5000]) },
      { requests: dice.below(3) },
    ]),
    ...dice.pick([{}, { every: 'day' }, { every: '5h' }]),
    ...dice.pick([{}, {}, { overrun: 'none' }]),
    ...dice.pick([
      {},
      { over: { use: dice.pick(['gpt-4o-mini', 'short', 'short', 'unknown-model', 'absent']), more: 1 } },
    ]),
  });
  return {
    ...dice.pick([{}, { budgets: [budget()] }]),
    ...(dice.below(20) === 0 && { blocked: true }),
    ...dice.pick([{}, {}, { unpriced: dice.pick(['refuse', 'warn', 'allow']) }]),
  };
}

const accountsBy = (dice: Dice): readonly object[] => [
  ...['/', '/acme', '/acme/search'].flatMap((path) =>
    dice.below(2) === 0
      ? []
      : [
          {
            path,
            ...limitsBy(dice),
            ...dice.pick([{}, {}, {}, {}, { models: { deny: ['gpt-4o'] } }]),
            ...(dice.below(10) === 0 && { providers: { allow: ['other'] } }),
            ...dice.pick([{}, {}, {}, { required_tags: ['team'] }]),
          },
        ],
  ),
  ...['#team', '#night*'].map((path) => ({
    path,
    ...limitsBy(dice),
    brought_by: dice.pick(['key', 'request', 'both']),
  })),
];

describe('an explanation of what binds a request', () => {
  it('says what the request then gets, for generated accounts, keys, tags and models', async function tried() {
    this.timeout(120_000);
    const dice = new Dice(4343);
    const seen = new Set<string>();
    for (let round = 0; round < cases(200); round += 1) {
      const t = await start({ accounts: accountsBy(dice) });
      for (let turn = 0; turn < 4; turn += 1) {
        const limits = {
          account: dice.pick(['/acme/search', '/acme/search', '/acme', '/']),
          ...(dice.below(12) === 0 && { account: '/gone/by' }),
          ...limitsBy(dice),
          ...dice.pick([{}, {}, { budget_usd: dice.pick([0, 5]) }]),
          ...dice.pick([{}, {}, { models: ['gpt-4o', 'short'] }]),
          ...dice.pick([{}, { tags: ['team'] }]),
        };
        const { key, record } = await t.host.stores.keys.create({ name: 'k', scopes: ['read_only'], limits });
        for (let asked = 0; asked < 2; asked += 1) {
          const tags = dice.pick([[], ['team'], ['night-1'], ['team', 'other']]);
          const request = {
            ...ask('hi'),
            model: dice.pick([...MODELS, 'short']),
            ...dice.pick([{}, { max_tokens: 5 }]),
          };
          const told = await t.post('/admin/explain', { request, key_id: record.id, tags });
          expect(told.status, told.text).to.equal(200);
          const { refusal, model, over, budgets = [], order } = told.json();
          const headers = {
            authorization: `Bearer ${key}`,
            ...(tags.length > 0 && { 'x-gateway-tags': tags.join(',') }),
          };
          const answer = await t.post(CHAT, request, headers);
          await eventually(() => t.host.slot.leases === 0);
          const { error } = answer.json();
          const what = `round ${round}: ${JSON.stringify({ limits, tags, request, accounts: t.host.current?.config.accounts })}`;
          seen.add(refusal?.code ?? (over ? 'over' : 'served'));
          expect(refusal && [refusal.code, refusal.message], what).to.deep.equal(
            error ? [error.code, error.message] : null,
          );
          if (error) continue;
          expect(answer.headers.get('x-gateway-model'), what).to.equal(model);
          expect(
            order.map(({ target }: { target: string }) => target),
            what,
          ).to.deep.equal(['openai']);
          expect(
            budgets.every(({ grants }: { grants: boolean }) => grants),
            what,
          ).to.equal(true);
          expect((answer.headers.get('x-gateway-budget') ?? '').includes('over='), what).to.equal(over !== undefined);
        }
      }
      await t.close();
    }
    expect([...seen]).to.include.members([
      'served',
      ...(isSoak() ? ['over'] : []),
      'insufficient_quota',
      'access_blocked',
      'model_not_found',
      'request_rejected',
      'invalid_request',
    ]);
  });

  it('holds and books nothing, and knows what is spent', async () => {
    const t = await start({ accounts: [{ path: '/acme', budgets: [{ requests: 2, every: 'day' }, { usd: 1 }] }] });
    const limits = { account: '/acme', budget_usd: 2 };
    const { key, record } = await t.host.stores.keys.create({ name: 'k', scopes: ['read_only'], limits });
    const request = { ...ask('hi'), model: 'gpt-4o' };
    const explain = async (): Promise<any[]> =>
      (await t.post('/admin/explain', { request, key_id: record.id })).json().budgets;
    const before = await explain();
    expect(
      before.map(({ of, unit, limit, spent, reserved, grants }) => [of, unit, limit, spent, reserved, grants]),
    ).to.deep.equal([
      ['key', 'usd', 2, 0, 0, true],
      ['account', 'requests', 2, 0, 0, true],
      ['account', 'usd', 1, 0, 0, true],
    ]);
    expect(before[0].expected).to.equal(before[2].expected).and.be.above(0);
    expect(before[1]).to.include({ expected: 1 });
    expect(await explain()).to.deep.equal(before);
    expect((await t.post(CHAT, request, { authorization: `Bearer ${key}` })).status).to.equal(200);
    await eventually(() => t.host.slot.leases === 0);
    const cost = (10 * 2.5 + 5 * 10) / 1e6;
    expect((await explain()).map(({ spent }) => spent)).to.deep.equal([cost, 1, cost]);
  });

  it('is of the model that is used beyond a budget, with what may be spent of it', async () => {
    const budgets = [{ requests: 0, over: { use: 'short', more: 1 } }, { usd: 1 }];
    const t = await start({ accounts: [{ path: '/acme', budgets }] });
    const request = { ...ask('hi'), model: 'gpt-4o' };
    const told = (await t.post('/admin/explain', { request, account: '/acme' })).json();
    expect([told.over, told.model, told.refusal]).to.deep.equal(['gpt-4o-mini', 'gpt-4o-mini', null]);
    expect(told.budgets.map(({ name, limit, grants }: any) => [name, limit, grants])).to.deep.equal([
      ['a:/acme|requests|total||over', 1, true],
      ['a:/acme|usd|total|', 1, true],
    ]);
  });

  it('is of an account without a key too, and whose list left a target out', async () => {
    const t = await start({
      targets: [
        { virtual_key: 'openai', models: ['m'] },
        { virtual_key: 'groq', models: ['m'] },
      ],
      accounts: [
        { path: '/acme', providers: { deny: ['groq'] } },
        { path: '#t', budgets: [{ requests: 1 }] },
      ],
    });
    const told = async (body: object): Promise<any> =>
      (await t.post('/admin/explain', { request: { ...ask('hi'), model: 'm' }, ...body })).json();
    const { order, budgets } = await told({ account: '/acme/alice', tags: ['t'] });
    expect(order.map(({ target }: { target: string }) => target)).to.deep.equal(['openai']);
    expect(budgets.map(({ name }: { name: string }) => name)).to.deep.equal(['t:t|requests|total|']);
    expect((await told({ account: '/gone' })).refusal).to.include({ code: 'access_blocked' });
    expect((await told({ account: 'acme' })).error.code).to.equal('invalid_request');
    expect((await told({ account: '/acme', key_id: 'x' })).error.code).to.equal('invalid_request');
    expect((await told({ tags: ['#t'] })).error.code).to.equal('invalid_request');
  });

  it('is printed by gw explain, without what is spent', async () => {
    const cwd = await temporaryFolder();
    const config = {
      targets: [{ virtual_key: 'openai', models: ['gpt-4o', 'nameless'] }],
      accounts: [
        { path: '/acme', budgets: [{ usd: 5, every: 'day' }] },
        { path: '#t', budgets: [{ requests: 7 }] },
      ],
    };
    await writeFile(join(cwd, 'gw.json'), JSON.stringify(config));
    const explain = async (model: string, ...flags: string[]): Promise<string> => {
      await writeFile(join(cwd, 'request.json'), JSON.stringify({ ...ask('hi'), model }));
      const args = ['explain', '--config', 'gw.json', '--request', 'request.json', ...flags];
      const { stdout, stderr, code } = await runCommand(args, { cwd, variables: { OPENAI_API_KEY: 'k' } });
      expect([code, stderr]).to.deep.equal([0, '']);
      return stdout;
    };
    const shown = await explain('gpt-4o', '--account', '/acme', '--tag', '#t');
    expect(shown).to.match(/BUDGET +LIMIT +SPENT +EXPECTED +GRANTS/);
    expect(shown).to.match(/a:\/acme\|usd\|day@UTC\+00:00\|[\d-]+ +5 usd +- +0\.\d+ +-\n/);
    expect(shown).to.match(/t:t\|requests\|total\| +7 requests +- +1 +-\n/);
    expect(await explain('nameless', '--account', '/acme'))
      .to.contain('Refused: request_rejected')
      .and.contain('no price');
    expect(await explain('gpt-4o')).to.not.contain('BUDGET');
  });
});
