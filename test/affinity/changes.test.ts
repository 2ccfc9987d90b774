import { expect } from 'chai';
import { chatReply, replyJson, startHost, stubUpstream, type TestHost } from '../kit/index.ts';
import { chat, providerOf, startPool, variablesOf, vendorOf } from '../credentials/vendor.ts';
import { askIn } from './world.ts';

const PATH = '/v1/chat/completions';

interface Changing {
  readonly host: TestHost;
  /** Targets that fail. */
  readonly failing: Set<string>;
  /** Applies these weights; a target without one is left out. */
  readonly weigh: (weights: Readonly<Record<string, number>>) => Promise<void>;
}

async function changing(): Promise<Changing> {
  const failing = new Set<string>();
  const targets = new Map<string, object>();
  for (const name of ['a', 'b', 'c']) {
    const upstream = await stubUpstream((_request, response) =>
      failing.has(name)
        ? replyJson(response, 503, { error: { message: 'no' } })
        : replyJson(response, 200, chatReply('hi')),
    );
    targets.set(name, upstream.target(name, { models: ['m'] }));
  }
  const document = (weights: Readonly<Record<string, number>>): object => ({
    strategy: { mode: 'loadbalance', affinity: 'session' },
    targets: Object.entries(weights).map(([name, weight]) => ({ ...targets.get(name), weight })),
  });
  const host = await startHost(document({ a: 1, b: 1, c: 1 }));
  return { host, failing, weigh: (weights) => host.apply(document(weights)) };
}

/** A session that had to move, its home and where it is now. */
async function moved({ host, failing }: Changing): Promise<{ readonly home: string; readonly now: string }> {
  const home = (await askIn(host, 's')).target ?? '';
  failing.add(home);
  const now = (await askIn(host, 's')).target ?? '';
  failing.clear();
  return { home, now };
}

describe('a session that moved', () => {
  it('stays there over a change of the configuration', async () => {
    const world = await changing();
    const { now } = await moved(world);
    await world.weigh({ c: 2, b: 1, a: 1 });
    expect((await askIn(world.host, 's')).target).to.equal(now);
  });

  for (const weight of [0, undefined])
    it(`is forgotten there once that ${weight === 0 ? 'has weight 0' : 'is configured no longer'}`, async () => {
      const world = await changing();
      const { home, now } = await moved(world);
      const weights: Record<string, number> = { a: 1, b: 1, c: 1 };
      if (weight === 0) weights[now] = 0;
      else delete weights[now];
      await world.weigh(weights);
      expect((await askIn(world.host, 's')).target).to.equal(home);
      await world.weigh({ a: 1, b: 1, c: 1 });
      expect((await askIn(world.host, 's')).target).to.equal(home);
    });
});

describe('a session of one credential', () => {
  it('leaves a credential of weight 0, and those of the others stay', async () => {
    const vendor = await vendorOf();
    const names = ['a', 'b', 'c'];
    const document = (weights: Readonly<Record<string, object>> = {}): object => ({
      strategy: { mode: 'fallback', affinity: 'session' },
      providers: { acme: providerOf(vendor, names, { credentials: weights }) },
      targets: [{ virtual_key: 'acme', models: ['m'] }],
    });
    const t = await startPool(vendor, names, {
      config: document(),
      variables: variablesOf(names),
    });
    const before = new Map<string, string>();
    const keyOf = async (session: string): Promise<string> => {
      await t.post(PATH, chat(), { 'x-gateway-session': session });
      return vendor.keys.at(-1) ?? '';
    };
    for (let at = 0; at < 15; at += 1) before.set(`s-${at}`, await keyOf(`s-${at}`));
    await t.apply(document({ b: { weight: 0 } }));
    for (const [session, key] of before) {
      const now = await keyOf(session);
      if (key === 'b') expect(now).to.not.equal('b');
      else expect(now).to.equal(key);
    }
  });
});

describe('a completion', () => {
  it('has the session of its body, and never an earlier answer', async () => {
    const { host } = await changing();
    for (const session of ['one', 'two', 'three']) {
      const targets = new Set<string | null>();
      for (let turn = 0; turn < 4; turn += 1) {
        const answer = await host.post('/v1/completions', { model: 'm', prompt: `${turn}`, prompt_cache_key: session });
        expect([answer.status, answer.headers.get('x-gateway-affinity')]).to.deep.equal([200, 'new']);
        targets.add(answer.headers.get('x-gateway-target'));
      }
      expect(targets.size).to.equal(1);
    }
  });
});
