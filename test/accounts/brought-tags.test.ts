import { expect } from 'chai';
import { eventually } from '../kit/index.ts';
import { type Gateway, gateway, type Probe, PROBES } from '../money/route-limits.ts';

const CHAT = PROBES[0] as Probe;
const READ = { money: { tags: { header: true } } };
const isCounting = ({ path }: Probe): boolean => /count|input_tokens/i.test(path);
const nameOf = ({ path, stream }: Probe): string => `${path}${stream ? ', streamed' : ''}`;
const ROUTES = PROBES.filter((probe) => !isCounting(probe));

const tagged = (probe: Probe, tags: string, headers: object = {}): Probe => ({
  ...probe,
  headers: { ...probe.headers, 'x-gateway-tags': tags, ...headers },
});

const withTag = (members: object, path = '#nightly'): object => ({
  ...READ,
  accounts: [{ path, brought_by: 'both', ...members }],
});

interface Budget {
  readonly of: string;
  readonly name: string;
  readonly spent: number;
}

/** What is booked at a tag, as the holder of a key that has it sees it. */
async function spentAt(g: Gateway, tag: string): Promise<number> {
  await eventually(() => g.t.host.slot.leases === 0);
  const { bearer } = await g.key({ tags: [tag] });
  const answer = await fetch(`${g.t.url}/v1/key`, { headers: { authorization: `Bearer ${bearer}` } });
  const { budgets } = (await answer.json()) as { budgets: Budget[] };
  return budgets.find(({ of, name }) => of === 'tag' && name === `#${tag}`)!.spent;
}

const REFUSED: readonly (readonly [what: string, members: object, status: number, says: string])[] = [
  ['is blocked', { blocked: true }, 403, 'the tag #nightly is blocked'],
  ['has spent its requests', { budgets: [{ requests: 0 }] }, 402, 'the budget of the tag #nightly is spent'],
  ['has spent its dollars', { budgets: [{ usd: 0 }] }, 402, 'the budget of the tag #nightly is spent'],
  ['denies the model', { models: { deny: ['m*'] } }, 404, 'model'],
  ['comes from keys alone', { brought_by: 'key' }, 400, 'the tag #nightly can only come from a key'],
];

describe('a tag that a request brings', () => {
  for (const [what, members, status, says] of REFUSED)
    it(`refuses the request on every route, and nothing is sent, where it ${what}`, async function tried() {
      this.timeout(60_000);
      const g = await gateway([], withTag(members));
      const { bearer } = await g.key({});
      for (const probe of ROUTES) {
        const { status: got, text } = await g.ask(tagged(probe, 'nightly, other'), bearer);
        expect([got, g.calls()], `${nameOf(probe)} ${text}`).to.deep.equal([status, 0]);
        expect(text, nameOf(probe)).to.include(says);
      }
    });

  it('pays for what every route has used', async function tried() {
    this.timeout(60_000);
    const g = await gateway([], withTag({ budgets: [{ requests: 1000 }] }));
    const { bearer } = await g.key({});
    let count = 0;
    for (const probe of ROUTES) {
      expect(await g.send(tagged(probe, 'nightly'), bearer), nameOf(probe)).to.be.below(300);
      count += 1;
      expect(await spentAt(g, 'nightly'), nameOf(probe)).to.equal(count);
    }
  });

  it('counts once where the key has it too, and by each word of brought_by', async () => {
    for (const [broughtBy, byKey, byRequest] of [
      ['key', 1, 400],
      ['request', 0, 1],
      ['both', 1, 1],
    ] as const) {
      const g = await gateway([], withTag({ brought_by: broughtBy, budgets: [{ requests: 100 }], rpm: 100 }));
      const has = await g.key({ tags: ['nightly'] });
      const hasNot = await g.key({});
      const spent = async (): Promise<number> => {
        await eventually(() => g.t.host.slot.leases === 0);
        return g.t.host.stores.ledgers.value.peek('budgets', 't:nightly|requests|total|').committed;
      };
      expect(await g.send(CHAT, has.bearer)).to.equal(200);
      expect(await spent(), `${broughtBy}, of the key`).to.equal(byKey);
      expect(await g.send(tagged(CHAT, 'nightly'), has.bearer), `${broughtBy}, of both`).to.equal(200);
      expect(await spent(), `${broughtBy}, of both`).to.equal(byKey + 1);
      const status = await g.send(tagged(CHAT, 'nightly'), hasNot.bearer);
      expect(status).to.equal(byRequest === 400 ? 400 : 200);
      expect(await spent(), `${broughtBy}, of the request`).to.equal(byKey + 1 + (byRequest === 400 ? 0 : byRequest));
    }
  });

  it('has rates and places of its own, and uses up its tokens', async () => {
    const g = await gateway([], withTag({ rpm: 1 }));
    const { bearer } = await g.key({});
    expect(await g.send(tagged(CHAT, 'nightly'), bearer)).to.equal(200);
    const late = await g.ask(tagged(CHAT, 'nightly'), bearer);
    expect([late.status, late.text]).to.satisfy(
      ([status, text]: [number, string]) =>
        status === 429 && text.includes('the tag #nightly has made its 1 requests per minute'),
    );
    expect(late.headers.get('retry-after')).to.match(/^[1-9]/);
    expect(await g.send(CHAT, bearer), 'without it').to.equal(200);
    const t = await gateway([], withTag({ tpm: 2 }));
    const other = await t.key({});
    expect(await t.send(tagged(CHAT, 'nightly'), other.bearer)).to.equal(200);
    await eventually(() => t.t.host.slot.leases === 0);
    expect(await t.send(tagged(CHAT, 'nightly'), other.bearer)).to.equal(429);
  });

  it('gives each value of a pattern a budget of its own, up to a bound', async function tried() {
    this.timeout(60_000);
    const g = await gateway([], withTag({ budgets: [{ requests: 1, every: 'day' }] }, '#project=*'));
    const { bearer } = await g.key({});
    expect(await g.send(tagged(CHAT, 'project=red'), bearer)).to.equal(200);
    expect(await g.send(tagged(CHAT, 'project=red'), bearer)).to.equal(402);
    for (let at = 0; at < 999; at += 9) {
      const all = Array.from({ length: 9 }, (_each, more) => `project=${at + more}`).join(',');
      expect(await g.send(tagged(CHAT, all), bearer), all).to.equal(200);
    }
    const beyond = await g.ask(tagged(CHAT, 'project=blue'), bearer);
    expect([beyond.status, JSON.parse(beyond.text).error.message]).to.deep.equal([
      400,
      'the tag #project=* has its 1000 values',
    ]);
    expect(await g.send(tagged(CHAT, 'project=red'), bearer), 'one that is known').to.equal(402);
  });

  it('meets what an account requires, and stands in what was spent, where nothing is written of it too', async () => {
    const g = await gateway([], { ...READ, accounts: [{ path: '/acme', required_tags: ['project'] }] });
    const { bearer } = await g.key({ account: '/acme', tags: ['ci', 'not a name'] });
    expect(await g.send(CHAT, bearer)).to.equal(400);
    expect(await g.send(tagged(CHAT, 'project=red, ci'), bearer)).to.equal(200);
    await eventually(() => g.t.host.slot.leases === 0);
    const { data } = (await g.t.get('/admin/spend?by=tag')).json();
    expect(data.map(({ tag }: any) => tag).toSorted()).to.deep.equal(['ci', 'project=red']);
  });

  it('comes by entries of the metadata too, where they are read', async () => {
    const g = await gateway([], {
      money: { tags: { metadata: ['project'] } },
      accounts: [{ path: '#project=red', brought_by: 'request', blocked: true }],
    });
    const { bearer } = await g.key({});
    const of = (value: unknown): Probe => ({
      ...CHAT,
      headers: { ...CHAT.headers, 'x-gateway-metadata': JSON.stringify({ project: value, other: 'x y' }) },
    });
    expect(await g.send(of('red'), bearer)).to.equal(403);
    expect(await g.send(of('blue'), bearer)).to.equal(200);
    expect(await g.send(tagged(CHAT, '###'), bearer), 'the header is not looked at').to.equal(200);
    const wrong = await g.ask(of('two words'), bearer);
    expect([wrong.status, wrong.text]).to.satisfy(
      ([status, text]: [number, string]) =>
        status === 400 && text.includes('the entry project of X-Gateway-Metadata makes no tag'),
    );
  });

  it('is 400 where it is not a name, where there are too many, and where their bytes are', async () => {
    const g = await gateway([], READ);
    const { bearer } = await g.key({});
    for (const wrong of ['#nightly', 'a b', 'a,,b', `x${'y'.repeat(64)}`, '-a', 'é', '*'])
      expect(await g.send(tagged(CHAT, wrong), bearer), wrong).to.equal(400);
    const many = (count: number): string => Array.from({ length: count }, (_each, at) => `t${at}`).join(',');
    expect(await g.send(tagged(CHAT, many(10)), bearer)).to.equal(200);
    expect(await g.send(tagged(CHAT, `${many(10)},t1`), bearer), 'one of them twice').to.equal(200);
    expect(await g.send(tagged(CHAT, many(11)), bearer)).to.equal(400);
    expect(await g.send(tagged(CHAT, `${'a,'.repeat(520)}a`), bearer)).to.equal(400);
    expect(await g.send(tagged(CHAT, ' '), bearer), 'an empty one').to.equal(200);
    expect(g.calls()).to.equal(3);
  });

  it('is not looked at where nothing says so, and hides no model', async () => {
    const off = await gateway([], { accounts: [{ path: '#nightly', brought_by: 'both', blocked: true }] });
    const { bearer } = await off.key({});
    expect(await off.send(tagged(CHAT, 'nightly,#'), bearer)).to.equal(200);
    const g = await gateway([], withTag({ models: { deny: ['m'] } }));
    const other = await g.key({});
    const list = await fetch(`${g.t.url}/v1/models`, {
      headers: { authorization: `Bearer ${other.bearer}`, 'x-gateway-tags': 'nightly,#' },
    });
    expect([list.status, await list.text()]).to.satisfy(
      ([status, text]: [number, string]) => status === 200 && text.includes('"m"'),
    );
  });

  it('gives sessions of each key budgets of their own, and a request without a key none', async () => {
    const g = await gateway([], withTag({ session: { budgets: [{ requests: 1 }] } }), {
      ALLOW_UNAUTHENTICATED_PROXY: 'true',
    });
    const [one, other] = [await g.key({}), await g.key({})];
    const probe = tagged(CHAT, 'nightly', { 'x-gateway-session': 'the same' });
    const statuses: number[] = [];
    for (const bearer of ['', '', one.bearer, other.bearer, one.bearer, other.bearer]) {
      statuses.push(await g.send(probe, bearer));
      await eventually(() => g.t.host.slot.leases === 0);
    }
    expect(statuses).to.deep.equal([200, 200, 200, 200, 402, 402]);
  });

  it('binds a request without a key', async () => {
    const g = await gateway([], withTag({ budgets: [{ requests: 1 }] }), { ALLOW_UNAUTHENTICATED_PROXY: 'true' });
    expect(await g.send(tagged(CHAT, 'nightly'), '')).to.equal(200);
    await eventually(() => g.t.host.slot.leases === 0);
    expect(await g.send(tagged(CHAT, 'nightly'), '')).to.equal(402);
    expect(await g.send(CHAT, '')).to.equal(200);
  });

  it('never leaves the gateway', async () => {
    const g = await gateway([], READ);
    const { bearer } = await g.key({});
    for (const probe of ROUTES) await g.send(tagged(probe, 'nightly'), bearer);
    expect(g.seenHeaders().filter((headers) => 'x-gateway-tags' in headers)).to.deep.equal([]);
  });
});
