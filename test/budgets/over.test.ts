import { expect } from 'chai';
import { ask, cases, chatReply, Dice, eventually, replyJson, startHost, stubUpstream } from '../kit/index.ts';
import { type Gateway, gateway, type Probe, PROBES } from '../money/route-limits.ts';

const CHAT = PROBES[0] as Probe;
const isCounting = ({ path }: Probe): boolean => /count|input_tokens/i.test(path);
/** What goes on as the client wrote it keeps its model. */
const isForwarded = ({ path }: Probe): boolean => /^\/v1\/(?:responses|vendor)/.test(path);

const LEVELS = [
  ['key', 'key'],
  ['/acme', 'account'],
  ['/', 'account'],
  ['#nightly', 'tag'],
] as const;

const MODELS = ['m', 'cheap', 'x'] as const;
const OVER = { use: 'cheap', more: 2 };

async function bound(
  path: string,
  budgets: readonly object[],
  more: object = {},
): Promise<{ g: Gateway; bearer: string }> {
  const accounts = ['/', '/acme', '#nightly'].map((each) => ({ path: each, ...(each === path && { budgets }) }));
  const g = await gateway([], { money: { unpriced: 'warn' }, accounts, ...more }, {}, MODELS);
  const { bearer } = await g.key({ account: '/acme', tags: ['nightly'], ...(path === 'key' && { budgets }) });
  return { g, bearer };
}

describe('another model beyond a budget', () => {
  for (const [path, kind] of LEVELS)
    it(`serves every routed surface, whole and streamed, until that is spent too: ${path}`, async function tried() {
      this.timeout(60_000);
      for (const probe of PROBES) {
        if (isCounting(probe)) continue;
        const { g, bearer } = await bound(path, [{ requests: 1, every: 'day', over: OVER }]);
        const send = async (): Promise<unknown[]> => {
          const { status, text, headers } = await g.ask(probe, bearer);
          await eventually(() => g.t.host.slot.leases === 0);
          const said = headers.get('x-gateway-budget') ?? '';
          const isSpent = text.includes('for the day is spent: 1 of 1 requests');
          return [
            status,
            headers.get('x-gateway-model'),
            said.includes(`kind=${kind}`),
            said.includes(', over="cheap"'),
            isSpent,
          ];
        };
        const what = `${probe.name} ${probe.path}`;
        const [first, second, third, fourth] = [await send(), await send(), await send(), await send()];
        expect(first?.slice(2), what).to.deep.equal([false, false, false]);
        const refused = [402, null, true, false, true];
        if (isForwarded(probe)) expect(second, what).to.deep.equal(refused);
        else {
          const [status, model] = first as [number, string | null];
          expect(model, what).to.be.oneOf(['m', null]);
          const served = [status, model && 'cheap', true, true, false];
          expect([second, third], what).to.deep.equal([served, served]);
          expect(
            g.seenTexts().map((sent) => /"cheap"|\r\ncheap\r\n/.test(sent)),
            what,
          ).to.deep.equal([false, true, true]);
        }
        expect(fourth, what).to.deep.equal(refused);
      }
    });

  it('is refused for the budget that was spent where the model is not served, not allowed, not priced, or nothing more may be spent', async () => {
    const spent = async (over: object, config: object = {}, key: object = {}): Promise<[number, boolean]> => {
      const upstream = await stubUpstream((_seen, response) => replyJson(response, 200, chatReply('hello')));
      const t = await startHost(
        {
          targets: [{ virtual_key: 'openai', models: ['gpt-4o', 'gpt-4o-mini', 'unknown-model'] }],
          aliases: { small: 'gpt-4o-mini' },
          ...config,
        },
        { variables: { OPENAI_API_KEY: 'k-0123456789', OPENAI_BASE_URL: `${upstream.url}/v1` } },
      );
      const limits = { budgets: [{ requests: 0, over }, { usd: 100 }], ...key } as object;
      const made = await t.host.stores.keys.create({ name: 'k', scopes: ['read_only'], limits });
      const { status, text } = await t.post(
        '/v1/chat/completions',
        { ...ask('hi'), model: 'gpt-4o' },
        { authorization: `Bearer ${made.key}` },
      );
      return [status, text.includes('the budget of the key is spent: 0 of 0 requests')];
    };
    const refused = [402, true];
    expect(await spent({ use: 'gpt-4o-mini', more: 1 })).to.deep.equal([200, false]);
    expect(await spent({ use: 'small', more: 1 })).to.deep.equal([200, false]);
    expect(await spent({ use: 'gpt-4o-mini', more: 0 })).to.deep.equal(refused);
    expect(await spent({ use: 'absent', more: 1 })).to.deep.equal(refused);
    expect(await spent({ use: 'unknown-model', more: 1 }), 'without a price').to.deep.equal(refused);
    expect(await spent({ use: 'gpt-4o-mini', more: 1 }, {}, { models: ['gpt-4o'] })).to.deep.equal(refused);
    expect(await spent({ use: 'small', more: 1 }, {}, { models: ['gpt-4o', 'small'] })).to.deep.equal([200, false]);
    expect(
      await spent({ use: 'gpt-4o-mini', more: 1 }, { accounts: [{ path: '/', models: { deny: ['gpt-4o-m*'] } }] }),
    ).to.deep.equal(refused);
    expect(
      await spent({ use: 'gpt-4o-mini', more: 1 }, { accounts: [{ path: '/', providers: { deny: ['openai'] } }] }, {}),
    ).to.deep.equal([404, false]);
  });

  it('stands in what was spent and in the rest of the answer as the model that answered', async () => {
    const { g, bearer } = await bound('/acme', [{ requests: 0, over: OVER }], {
      plugins: [],
    });
    const { status, text } = await g.ask(CHAT, bearer);
    expect(status).to.equal(200);
    expect(JSON.parse(text)).to.include({ model: 'cheap' });
    await eventually(() => g.t.host.slot.leases === 0);
    const rows = (await g.t.get('/admin/spend?by=model')).json() as { data: { model: string; requests: number }[] };
    expect(rows.data.map(({ model, requests }) => [model, requests])).to.deep.equal([['cheap', 1]]);
  });

  it('is what a naive reading of generated budgets says, request by request', async function tried() {
    this.timeout(120_000);
    const dice = new Dice(4711);
    for (let round = 0; round < cases(30); round += 1) {
      const plans = LEVELS.map(([path]) => ({ path, budgets: someBudgets(dice) }));
      const accounts = plans.filter(({ path }) => path !== 'key');
      const g = await gateway([], { accounts }, {}, MODELS);
      const own = plans.find(({ path }) => path === 'key')?.budgets ?? [];
      const { bearer } = await g.key({
        account: '/acme',
        tags: ['nightly'],
        budgets: own.map(({ models: _all, ...rest }) => rest),
      });
      const order = ['key', '/acme', '/', '#nightly'];
      const all = order.flatMap((path) =>
        (plans.find((plan) => plan.path === path)?.budgets ?? []).map((budget) => ({
          ...budget,
          ...(path === 'key' && { models: undefined }),
        })),
      );
      const naive = new Naive(all);
      for (let request = 0; request < 12; request += 1) {
        const model = dice.pick(MODELS);
        const probe = { ...CHAT, body: (text: string) => ({ model, messages: [{ role: 'user', content: text }] }) };
        const { status, headers } = await g.ask(probe, bearer);
        await eventually(() => g.t.host.slot.leases === 0);
        const text = JSON.stringify({ all, request, model });
        expect(status === 200 ? headers.get('x-gateway-model') : status, text).to.equal(naive.ask(model));
      }
    }
  });
});

interface Plan {
  readonly requests: number;
  readonly every: string;
  readonly models?: readonly string[] | undefined;
  readonly over?: { readonly use: string; readonly more: number };
}

function someBudgets(dice: Dice): readonly Plan[] {
  return Array.from({ length: dice.below(3) }, (_each, at) => ({
    requests: dice.below(6),
    every: `${at + 1000}h`,
    ...(dice.below(3) === 0 && { models: [dice.pick([...MODELS, 'c*'])] }),
    ...(dice.below(3) > 0 && { over: { use: dice.pick(MODELS), more: dice.below(5) } }),
  }));
}

/** Counts by lists alone. */
class Naive {
  readonly #all: readonly Plan[];
  readonly #spent: number[];
  readonly #beyond: number[];

  constructor(all: readonly Plan[]) {
    this.#all = all;
    this.#spent = all.map(() => 0);
    this.#beyond = all.map(() => 0);
  }

  /** The model that serves, or the status that refuses. */
  ask(model: string): string | number {
    const passed = new Set<number>();
    let used = model;
    let use: string | undefined;
    for (;;) {
      const counts = this.#all.map(
        ({ models }, at) =>
          passed.has(at) || !models || models.some((each) => each === used || (each === 'c*' && used.startsWith('c'))),
      );
      const denies = this.#all.findIndex(
        ({ requests, over }, at) =>
          counts[at] &&
          (passed.has(at) ? (this.#beyond[at] ?? 0) >= (over?.more ?? 0) : (this.#spent[at] ?? 0) >= requests),
      );
      if (denies < 0) {
        counts.forEach((isCounted, at) => {
          if (isCounted) (passed.has(at) ? this.#beyond : this.#spent)[at]! += 1;
        });
        return used;
      }
      const over = this.#all[denies]?.over;
      if (passed.has(denies) || !over || (use !== undefined && over.use !== use)) return 402;
      passed.add(denies);
      use = over.use;
      used = use;
    }
  }
}
