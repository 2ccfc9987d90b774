import { expect } from 'chai';
import { forBackends, refusal } from './kit.ts';

const LIMITS = {
  models: ['gpt-4o-mini', 'a/b'],
  providers: ['openai'],
  tags: ['team:a', ' '.repeat(1) + 'b'],
  mcp_tools: ['search', 'files/*'],
  rpm: 60,
  tpm: 100_000,
  budget_usd: 12.5,
  budgets: [
    { usd: 0.000001, every: 'week', on: 'sun', at: '06:30', timezone: 'Europe/Berlin' },
    { tokens: 0, every: '90m', from: '2026-01-01T00:00:00+02:00', reserve_tokens: 100 },
    { requests: 9_007_199_254_740_991 },
  ],
};

forBackends('what a key may use', (start) => {
  it('is kept and shown behind the specified members, in one order', async () => {
    const t = await start();
    const made = await t.makeKey(Object.fromEntries(Object.entries(LIMITS).toReversed()));
    const shown = (await t.get(`/admin/keys/${made.id}`)).json();
    for (const key of [made, shown]) {
      expect(Object.keys(key)).to.deep.equal([
        'id',
        'key',
        'name',
        'scopes',
        'created_at',
        'usage_count',
        'active',
        ...Object.keys(LIMITS),
      ]);
      expect(key).to.deep.include(LIMITS);
    }
    expect((await t.get('/admin/keys')).json()[0]).to.deep.equal(shown);
    const { spend, ...used } = (await t.get('/admin/keys/usage')).json().data[0];
    expect(used).to.deep.equal(shown);
    expect(spend).to.deep.equal({ month_usd: 0, remaining_usd: 0.000001 });
    expect((await t.post(`/admin/keys/${made.id}/rotate`, undefined)).json()).to.deep.include(LIMITS);
  });

  it('is left out while it is unset', async () => {
    const t = await start();
    const specified = ['id', 'key', 'name', 'scopes', 'created_at', 'usage_count', 'active'];
    expect(Object.keys(await t.makeKey())).to.deep.equal(specified);
    expect(
      Object.keys(
        await t.makeKey({
          models: null,
          providers: [],
          tags: [],
          mcp_tools: null,
          rpm: null,
          tpm: null,
          budget_usd: null,
        }),
      ),
    ).to.deep.equal(specified);
  });

  it('changes one by one; null and an empty list take it away', async () => {
    const t = await start();
    const { id } = await t.makeKey(LIMITS);
    const put = async (body: object): Promise<any> => (await t.request('PUT', `/admin/keys/${id}`, body)).json();
    expect(await put({ rpm: 5, models: ['m'] })).to.deep.include({ ...LIMITS, rpm: 5, models: ['m'] });
    expect(await put({ name: 'other' })).to.deep.include({ ...LIMITS, rpm: 5, models: ['m'] });
    const less = await put({ models: [], providers: null, tpm: null, budget_usd: null });
    expect(less).to.deep.include({ tags: LIMITS.tags, mcp_tools: LIMITS.mcp_tools, rpm: 5 });
    expect(less).not.to.have.any.keys('models', 'providers', 'tpm', 'budget_usd');
  });

  const bad: readonly [string, unknown][] = [
    ...(['models', 'providers', 'tags', 'mcp_tools'] as const).flatMap((name): [string, unknown][] => [
      [name, 'text'],
      [name, 5],
      [name, {}],
      [name, [5]],
      [name, [null]],
      [name, ['']],
      [name, ['a', ' ']],
      [name, ['a\0b']],
      [name, ['\ud800']],
      [name, ['x'.repeat(2049)]],
      [name, Array.from({ length: 1001 }, () => 'x')],
    ]),
    ...(['rpm', 'tpm'] as const).flatMap((name): [string, unknown][] => [
      [name, 0],
      [name, -1],
      [name, 1.5],
      [name, '60'],
      [name, true],
      [name, [60]],
      [name, 2 ** 31],
      [name, 1e300],
    ]),
    ['name', 'x'.repeat(1025)],
    ['scopes', Array.from({ length: 1001 }, () => 'admin')],
    ['expires_at', `2099-01-01T00:00:00.${'0'.repeat(1000)}Z`],
    ['budget_usd', -0.01],
    ['budget_usd', '5'],
    ['budget_usd', {}],
  ];
  it('is refused by its name when it cannot be meant, and nothing is kept', async () => {
    const t = await start();
    const { id } = await t.makeKey(LIMITS);
    for (const [name, value] of bad) {
      for (const [method, path] of [
        ['POST', '/admin/keys'],
        ['PUT', `/admin/keys/${id}`],
      ] as const) {
        const answer = await t.request(method, path, { name: 'x', [name]: value });
        expect(refusal(answer), JSON.stringify([name, value]).slice(0, 100)).to.deep.equal([400, 'invalid_request']);
        expect(answer.json().error.message).to.include(name);
      }
    }
    const [only, ...others] = (await t.get('/admin/keys')).json();
    expect(others).to.deep.equal([]);
    expect(only).to.deep.include({ name: 'key', ...LIMITS });
  });

  it('may be as large as it can be meant', async () => {
    const t = await start();
    const most = {
      name: 'ü'.repeat(1024),
      scopes: Array.from({ length: 1000 }, () => 'admin'),
      models: Array.from({ length: 1000 }, (_, at) => `${at}-${'x'.repeat(2000)}`),
      rpm: 2 ** 31 - 1,
      tpm: 1,
      budget_usd: 0.000_001,
    };
    expect(await t.makeKey(most)).to.deep.include(most);
  });

  it('of numbers beyond 2^53 and texts that only look like numbers nothing is guessed', async () => {
    const t = await start();
    for (const number of ['9007199254740993', '1e999', '-0'])
      expect(refusal(await t.post('/admin/keys', `{"name":"x","rpm":${number}}`)), number).to.deep.equal([
        400,
        'invalid_request',
      ]);
    for (const number of ['1e999'])
      expect(refusal(await t.post('/admin/keys', `{"name":"x","budget_usd":${number}}`)), number).to.deep.equal([
        400,
        'invalid_request',
      ]);
  });

  it('of numbers beyond 2^53 takes those that an amount can be, and names the others as numbers', async () => {
    const t = await start();
    const made = async (member: string): Promise<any> => (await t.post('/admin/keys', `{"name":"x",${member}}`)).json();
    expect([
      (await made('"budget_usd":1e20')).budget_usd,
      (await made('"budget_usd":9007199254740993')).budget_usd,
    ]).to.deep.equal([1e20, 2 ** 53]);
    expect((await made('"rpm":9007199254740993')).error.message).to.include('not 9007199254740993');
    expect((await made('"budget_usd":1e999')).error.message).to.include('not 1e999');
  });
});
