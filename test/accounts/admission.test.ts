import { expect } from 'chai';
import { eventually, forSuite, some } from '../kit/index.ts';
import { type Gateway, gateway, type Probe, PROBES } from '../money/route-limits.ts';

const CHAT = PROBES[0] as Probe;
const KEY = { account: '/acme/search', tags: ['nightly', 'project=red'] };

/** Where a limit may stand, and what it is called. */
const LEVELS = [
  ['/acme/search', 'the account /acme/search', 'account'],
  ['/acme', 'the account /acme', 'account'],
  ['/', 'the account /', 'account'],
  ['#nightly', 'the tag #nightly', 'tag'],
  ['#project=*', 'the tag #project=red', 'tag'],
] as const;

const PATHS = LEVELS.map(([path]) => path);
const withAt = (path: string, members: object): object => ({
  accounts: PATHS.map((each) => ({ path: each, ...(each === path && members) })),
});

const isCounting = ({ path }: Probe): boolean => /count|input_tokens/i.test(path);
const nameOf = ({ path, stream, name }: Probe): string =>
  `${path}${stream ? ', streamed' : ''}${name.includes('background') ? ', in the background' : ''}`;

/** What each level may refuse, what the client reads, and whether counting of tokens passes it. */
const REFUSALS: Readonly<
  Record<
    string,
    {
      readonly members: object;
      readonly status: number;
      readonly says: (name: string) => string;
      readonly passesCounting?: true;
      readonly onlyAccounts?: true;
      readonly isAnyName?: true;
    }
  >
> = {
  'is blocked': { members: { blocked: true }, status: 403, says: (name) => `${name} is blocked` },
  'has spent its dollars': {
    members: { budgets: [{ usd: 0, every: 'day' }] },
    status: 402,
    says: (name) => `the budget of ${name} for the day is spent: $0.00 of $0.00`,
    passesCounting: true,
  },
  'has spent its tokens': {
    members: { budgets: [{ tokens: 0, every: '5h' }] },
    status: 402,
    says: (name) => `the budget of ${name} for 5h is spent: 0 of 0 tokens`,
    passesCounting: true,
  },
  'has made its requests': {
    members: { budgets: [{ requests: 0 }] },
    status: 402,
    says: (name) => `the budget of ${name} is spent: 0 of 0 requests`,
    passesCounting: true,
  },
  'denies the model': { members: { models: { deny: ['m*'] } }, status: 404, says: () => 'model' },
  'allows other models': { members: { models: { allow: ['x'] } }, status: 404, says: () => 'model' },
};

describe('a request whose key is bound by accounts and tags', () => {
  for (const [first, [what, { members, status, says, passesCounting }]] of Object.entries(REFUSALS).entries())
    for (const [second, [path, name, kind]] of LEVELS.entries())
      it(`is refused on every route, and nothing is sent, where ${name} ${what}`, async function tried() {
        this.timeout(60_000);
        const g = await gateway([], withAt(path, members));
        const { bearer } = await g.key(KEY);
        for (const probe of some(PROBES, { every: 3, from: (first + second) % 3 })) {
          if (passesCounting && isCounting(probe)) continue;
          const { status: got, text, headers } = await g.ask(probe, bearer);
          expect([got, g.calls()], `${nameOf(probe)} ${text}`).to.deep.equal([status, 0]);
          expect(text, nameOf(probe)).to.include(says(name));
          expect(headers.get('retry-after'), nameOf(probe)).to.equal(null);
          if (status !== 402) continue;
          const id = name.replace(/^the \w+ /, '');
          expect(headers.get('x-gateway-budget'), nameOf(probe)).to.include(`kind=${kind}, id="${id}"`);
        }
        const free = await g.key({ account: path === '/' ? undefined : '/other' });
        if (path !== '/') expect(await g.send(CHAT, free.bearer), 'another key').to.equal(403); // that account does not exist
      });

  it('is 403 on every route where its account does not exist', async function tried() {
    this.timeout(60_000);
    const g = await gateway();
    const { bearer } = await g.key(KEY);
    for (const probe of PROBES) {
      const { status, text } = await g.ask(probe, bearer);
      expect([status, g.calls()], nameOf(probe)).to.deep.equal([403, 0]);
      expect(text).to.include('the account /acme/search of this key does not exist');
    }
  });

  it('lists only models that every level allows', async () => {
    const g = await gateway([], withAt('/acme', { models: { deny: ['m'] } }));
    const { bearer } = await g.key(KEY);
    const list = async (path: string, token: string): Promise<string> =>
      (await fetch(`${g.t.url}${path}`, { headers: { authorization: `Bearer ${token}` } })).text();
    const open = await g.key({});
    for (const path of ['/v1/models', '/v1beta/models']) {
      const [own, all] = [await list(path, bearer), await list(path, open.bearer)];
      expect(/"m"|models\/m"/.test(own), `${path} ${own}`).to.equal(false);
      expect(all.length).to.be.at.least(own.length);
    }
  });
});

describe('what a request has used', () => {
  for (const probe of PROBES.filter((each) => !isCounting(each)))
    it(`is booked at its account, at / and at its tags as at its key: ${nameOf(probe)}`, async () => {
      const budgets = [{ usd: 1000 }, { tokens: 1_000_000 }, { requests: 100 }];
      const g = await gateway([], {
        money: { unpriced: 'warn' },
        accounts: ['/', '/acme', '#nightly'].map((path) => ({ path, budgets })),
      });
      const reference = await g.key({ budgets, account: '/acme', tags: ['nightly'] });
      const bare = await g.key({ account: '/acme', tags: ['nightly'] });
      const spentOf = async (bearer: string): Promise<Record<string, number>> => {
        await eventually(() => g.t.host.slot.leases === 0);
        const answer = await fetch(`${g.t.url}/v1/key`, { headers: { authorization: `Bearer ${bearer}` } });
        const { budgets: all } = (await answer.json()) as { budgets: Record<'of' | 'name' | 'unit' | 'spent', any>[] };
        return Object.fromEntries(
          all.map(({ of, name, unit, spent }) => [`${of === 'key' ? 'key' : name} ${unit}`, spent]),
        );
      };
      expect(await g.send(probe, reference.bearer)).to.be.below(300);
      const once = await spentOf(reference.bearer);
      for (const unit of ['usd', 'tokens', 'requests'])
        for (const path of ['/', '/acme', '#nightly'])
          expect(once[`${path} ${unit}`], `${path} ${unit}`).to.equal(once[`key ${unit}`]);
      expect(await g.send(probe, bare.bearer)).to.be.below(300);
      const twice = await spentOf(bare.bearer);
      for (const [name, spent] of Object.entries(twice)) expect(spent, name).to.be.closeTo(2 * (once[name] ?? 0), 1e-9);
    });
});

describe('a request without a credential', () => {
  const OPEN = { ALLOW_UNAUTHENTICATED_PROXY: 'true' };
  for (const [first, [what, { members, status, says, passesCounting }]] of Object.entries(REFUSALS).entries())
    it(`is refused on every route, and nothing is sent, where the account / ${what}`, async () => {
      const g = await gateway([], withAt('/', members), OPEN);
      for (const probe of some(PROBES, { every: 3, from: first % 3 })) {
        if (passesCounting && isCounting(probe)) continue;
        const { status: got, text } = await g.ask(probe, '');
        expect([got, g.calls()], `${nameOf(probe)} ${text}`).to.deep.equal([status, 0]);
        expect(text, nameOf(probe)).to.include(says('the account /'));
      }
    });

  it('uses up the tokens of / by what it used', async () => {
    const g = await gateway([], { accounts: [{ path: '/', tpm: 5 }] }, OPEN);
    expect(await g.send(CHAT, '')).to.equal(200);
    await eventually(() => g.t.host.slot.leases === 0);
    expect(await g.send(CHAT, '')).to.equal(429);
  });

  it('sees the models that / allows', async () => {
    const g = await gateway([], withAt('/', { models: { deny: ['m'] } }), OPEN);
    expect(await (await fetch(`${g.t.url}/v1/models`)).text()).not.to.include('"m"');
  });
});

describe('limits of accounts', () => {
  it('let one request take of all of them, or of none', async () => {
    const g = await gateway([], {
      accounts: [{ path: '/acme', rpm: 5 }, { path: '/acme/search', rpm: 2 }, { path: '/acme/ads' }],
    });
    const [one, two] = [await g.key({ account: '/acme/search' }), await g.key({ account: '/acme/ads' })];
    const statuses: number[] = [];
    for (let at = 0; at < 4; at += 1) statuses.push(await g.send(CHAT, one.bearer));
    expect(statuses).to.deep.equal([200, 200, 429, 429]);
    for (let at = 0; at < 4; at += 1) statuses.push(await g.send(CHAT, two.bearer));
    expect(statuses.slice(4)).to.deep.equal([200, 200, 200, 429]); // the refused ones took nothing of /acme
    const { text, headers } = await g.ask(CHAT, one.bearer);
    expect(text).to.include('the account /acme/search has made its 2 requests per minute');
    expect(Number(headers.get('retry-after'))).to.be.at.least(1);
  });

  it('count tokens of all keys below', async () => {
    const g = await gateway([], { accounts: [{ path: '/acme', tpm: 5 }] });
    const [one, two] = [await g.key({ account: '/acme' }), await g.key({ account: '/acme' })];
    expect(await g.send(CHAT, one.bearer)).to.equal(200);
    await eventually(() => g.t.host.slot.leases === 0);
    const { status, text } = await g.ask(CHAT, two.bearer);
    expect([status, text.includes('the account /acme has used its 5 tokens per minute')]).to.deep.equal([429, true]);
  });

  it('are paid by every key below, and by the key itself', async () => {
    const g = await gateway([], {
      accounts: [{ path: '/acme', budgets: [{ requests: 3 }] }, { path: '/acme/search' }],
    });
    const keys = [
      await g.key({ account: '/acme/search' }),
      await g.key({ account: '/acme', budgets: [{ requests: 1 }] }),
    ];
    const send = (at: number): Promise<number> => g.send(CHAT, keys[at]!.bearer);
    expect([await send(1), await send(1), await send(0), await send(0), await send(0)]).to.deep.equal([
      200, 402, 200, 200, 402,
    ]);
  });

  it('of a budget for some models are asked for those alone', async () => {
    const g = await gateway([], { accounts: [{ path: '/acme', budgets: [{ requests: 0, models: ['x*'] }] }] });
    expect(await g.send(CHAT, (await g.key({ account: '/acme' })).bearer)).to.equal(200);
    const other = await gateway([], { accounts: [{ path: '/acme', budgets: [{ requests: 0, models: ['x', 'm*'] }] }] });
    expect(await other.send(CHAT, (await other.key({ account: '/acme' })).bearer)).to.equal(402);
  });

  it('refuse a request that lacks a tag, whatever else it may', async () => {
    const g = await gateway([], {
      accounts: [{ path: '/acme', required_tags: ['project'] }, { path: '/acme/search' }],
    });
    const bare = await g.ask(CHAT, (await g.key({ account: '/acme/search' })).bearer);
    expect([bare.status, bare.text.includes('the account /acme needs the tag project')]).to.deep.equal([400, true]);
    for (const tags of [['project'], ['project=red', 'x']])
      expect(await g.send(CHAT, (await g.key({ account: '/acme/search', tags })).bearer)).to.equal(200);
  });

  it('give each value of a pattern a budget of its own', async () => {
    const g = await gateway([], { accounts: [{ path: '#project=*', budgets: [{ requests: 1 }] }] });
    const key = async (project: string): Promise<string> => (await g.key({ tags: [`project=${project}`] })).bearer;
    const [red, red2, blue] = [await key('red'), await key('red'), await key('blue')];
    expect([await g.send(CHAT, red), await g.send(CHAT, red2), await g.send(CHAT, blue)]).to.deep.equal([
      200, 402, 200,
    ]);
  });

  it('of / bind keys without an account, the master key and requests without a credential', async () => {
    const g = await gateway([], { accounts: [{ path: '/', budgets: [{ requests: 2 }] }] });
    expect(await g.send(CHAT, (await g.key({})).bearer)).to.equal(200);
    const ask = (): Promise<{ status: number }> => g.t.post(CHAT.path, CHAT.body('hi', 16));
    expect([(await ask()).status, (await ask()).status]).to.deep.equal([200, 402]);
    expect((await g.t.get('/admin/keys')).status, 'an administrator is not locked out').to.equal(200);
  });

  it('have their places back after every end', async () => {
    const accounts = [
      { path: '/acme', max_parallel: 1 },
      { path: '/acme/spent', budgets: [{ requests: 0 }] },
    ];
    const g = await gateway([], { accounts });
    const [{ bearer }, spent] = [await g.key({ account: '/acme' }), await g.key({ account: '/acme/spent' })];
    for (const probe of PROBES) {
      if (isCounting(probe)) continue;
      expect(await g.send(probe, spent.bearer), nameOf(probe)).to.equal(402);
      expect(await g.send(probe, bearer), nameOf(probe)).to.not.equal(429);
      await eventually(() => g.t.host.slot.leases === 0);
    }
    const together = await Promise.all(Array.from({ length: 6 }, () => g.ask(CHAT, bearer)));
    for (const { status, text, headers } of together) {
      expect(status).to.be.oneOf([200, 429]);
      if (status !== 429) continue;
      expect(text).to.include('the account /acme has 1 requests in flight, the most it may have');
      expect(headers.get('retry-after')).to.equal('1');
    }
    expect(together.some(({ status }) => status === 200)).to.equal(true);
    await eventually(() => g.t.host.slot.leases === 0);
    expect(await g.send(CHAT, bearer)).to.equal(200);
  });

  it('have more room while they are raised, and no longer', async () => {
    const g = await gateway([], { accounts: [{ path: '/acme', budgets: [{ requests: 1 }, { tokens: 1000 }] }] });
    const { bearer, id } = await g.key({ account: '/acme', budget_usd: 0 });
    const subjects = [
      ['/acme', 'requests', undefined, 2],
      [id, 'usd', 'total', 1e9],
    ] as const;
    expect(await g.send(CHAT, bearer), 'budget_usd is 0').to.equal(402);
    const { accounts, clock } = { accounts: g.t.host.stores.accounts, clock: g.t.host.services.clock };
    const now = clock.now();
    for (const [subject, unit, rule, amount] of subjects)
      await accounts.addRaise({
        id: `r-${subject}`,
        subject,
        unit,
        rule,
        amount,
        from: now - 1000,
        until: now + 60_000,
        note: undefined,
        actor: 'a',
        createdAt: now,
      });
    const statuses: number[] = [];
    for (let at = 0; at < 4; at += 1) statuses.push(await g.send(CHAT, bearer));
    expect(statuses).to.deep.equal([200, 200, 200, 402]);
    const shown = (await (
      await fetch(`${g.t.url}/v1/key`, { headers: { authorization: `Bearer ${bearer}` } })
    ).json()) as {
      budgets: { of: string; unit: string; limit: number; spent: number }[];
    };
    expect(shown.budgets.map(({ of, unit, limit }) => [of, unit, limit])).to.deep.equal([
      ['key', 'usd', 1000],
      ['account', 'requests', 3],
      ['account', 'tokens', 1000],
    ]);
    await accounts.removeRaise(id, `r-${id}`);
    const { status, text } = await g.ask(CHAT, bearer);
    expect([status, text.includes('limit')]).to.deep.equal([402, true]);
  });

  const scene = forSuite<Gateway>(() =>
    gateway([], { accounts: [{ path: '/acme', child_default: { budgets: [{ requests: 1 }] } }] }),
  );
  it('of children that are not written come from above', async () => {
    const g = scene();
    const [one, two] = [await g.key({ account: '/acme/one' }), await g.key({ account: '/acme/two' })];
    const statuses = [await g.send(CHAT, one.bearer), await g.send(CHAT, one.bearer), await g.send(CHAT, two.bearer)];
    expect(statuses).to.deep.equal([200, 402, 200]);
    expect(await g.send(CHAT, (await g.key({ account: '/acme/one/below' })).bearer)).to.equal(403);
  });
});
