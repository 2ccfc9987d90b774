import { expect } from 'chai';
import { type Fleet, startFleet, to } from '../groups/fleet.ts';
import { fakeClock } from '../kit/index.ts';
import { askIn } from './world.ts';

const NAMES = ['a', 'b', 'c'] as const;

const grouped = (strategy: object, options: object = {}): Promise<Fleet> =>
  startFleet(
    NAMES,
    {
      models: [
        {
          name: 'm',
          routes: NAMES.map((target) => ({ target, model: 'x', weight: 1 })),
          strategy: { affinity: 'session', ...strategy },
        },
      ],
    },
    options,
  );

const sessions = Array.from({ length: 24 }, (_each, at) => `s-${at}`);

describe('a session', () => {
  for (const isTop of [false, true])
    for (const stream of [false, true])
      it(`stays at one target of a loadbalance ${isTop ? 'of the document' : 'of a group'} (${stream ? 'streamed' : 'whole'})`, async () => {
        const { host } = isTop
          ? await startFleet(
              NAMES,
              { strategy: { mode: 'loadbalance', affinity: 'session' } },
              { more: Object.fromEntries(NAMES.map((name) => [name, { models: ['m'], weight: 1 }])) },
            )
          : await grouped({ mode: 'loadbalance' });
        const homes = new Set<string | null>();
        for (const session of sessions) {
          const first = await askIn(host, session, { body: { stream } });
          const second = await askIn(host, session, { body: { stream }, isLater: true });
          expect(first.status).to.equal(200);
          expect([first.result, second.result]).to.deep.equal(['new', 'followed']);
          expect(second.target).to.equal(first.target);
          homes.add(first.target);
        }
        expect(homes.size).to.equal(3);
      });

  it('has one home on every replica, whatever the order of the file', async () => {
    const homesOf = async (names: readonly string[]): Promise<(string | null)[]> => {
      const { host } = await startFleet(names, {
        models: [
          {
            name: 'm',
            routes: names.map((target) => ({ target, model: 'x', weight: 1 })),
            strategy: { mode: 'loadbalance', affinity: 'session' },
          },
        ],
      });
      const homes: (string | null)[] = [];
      for (const session of sessions) homes.push((await askIn(host, session)).target);
      return homes;
    };
    expect(await homesOf(['c', 'a', 'b'])).to.deep.equal(await homesOf(NAMES));
  });

  it('moves where its home fails, is followed there, and the header, row and figure say so', async () => {
    const fleet = await grouped({ mode: 'loadbalance' });
    const { host } = fleet;
    const first = await askIn(host, 's');
    fleet.does.set(first.target ?? '', 503);
    const second = await askIn(host, 's', { isLater: true });
    fleet.does.clear();
    const third = await askIn(host, 's', { isLater: true });
    expect(second.result).to.equal('moved');
    expect(second.target).to.not.equal(first.target);
    expect([third.target, third.result]).to.deep.equal([second.target, 'followed']);
    const figures = await host.get('/metrics').then((answer) => answer.text);
    for (const [result, count] of [
      ['new', 1],
      ['moved', 1],
      ['followed', 1],
    ])
      expect(figures).to.include(`gateway_affinity_requests_total{group="m",result="${result}"} ${count}`);
  });

  it('is forgotten where it moved once that fails', async () => {
    const fleet = await grouped({ mode: 'loadbalance' });
    const { target: home } = await askIn(fleet.host, 's');
    fleet.does.set(home ?? '', 503);
    const { target: moved } = await askIn(fleet.host, 's');
    fleet.does.clear();
    fleet.does.set(moved ?? '', 503);
    const back = await askIn(fleet.host, 's');
    expect([back.target, back.result]).to.deep.equal([home, 'new']);
  });

  it('is not moved by an error of the client', async () => {
    const fleet = await grouped({ mode: 'loadbalance', failover_on_status_codes: [] });
    const { target: home } = await askIn(fleet.host, 's');
    fleet.does.set(home ?? '', 503);
    const { target: moved } = await askIn(fleet.host, 's');
    fleet.does.clear();
    fleet.does.set(moved ?? '', 422);
    expect((await askIn(fleet.host, 's')).status).to.equal(422);
    fleet.does.clear();
    expect((await askIn(fleet.host, 's')).target).to.equal(moved);
  });

  for (const mode of ['fallback', 'loadbalance'] as const)
    it(`goes home under ${mode} ${mode === 'fallback' ? 'ten minutes after it moved, however often it was served' : 'an hour after it was served last'}`, async () => {
      const clock = fakeClock();
      const fleet = await grouped({ mode }, { clock });
      const { host } = fleet;
      const { target: home } = await askIn(host, 's');
      fleet.does.set(home ?? '', 503);
      const { target: moved } = await askIn(host, 's');
      fleet.does.clear();
      expect(moved).to.not.equal(home);
      const minute = 60_000;
      clock.advance(9 * minute);
      expect((await askIn(host, 's')).target).to.equal(moved);
      clock.advance(2 * minute);
      expect((await askIn(host, 's')).target).to.equal(mode === 'fallback' ? home : moved);
      if (mode === 'fallback') return;
      clock.advance(59 * minute);
      expect((await askIn(host, 's')).target).to.equal(moved);
      clock.advance(60 * minute);
      expect((await askIn(host, 's')).target).to.equal(home);
    });

  it('keeps its variant of an ab-test, and variants keep their shares over sessions', async () => {
    const { host } = await grouped({
      mode: 'ab-test',
      ab_variants: [
        { target_key: 'a', weight: 3, label: 'old' },
        { target_key: 'b', weight: 1, label: 'fresh' },
      ],
    });
    let old = 0;
    for (let at = 0; at < 80; at += 1) {
      const first = await askIn(host, `v-${at}`);
      for (let turn = 0; turn < 2; turn += 1)
        expect((await askIn(host, `v-${at}`, { isLater: true })).target).to.equal(first.target);
      if (first.target === 'a') old += 1;
    }
    expect(old).to.be.within(50, 70); // 60 expected
  });

  it('goes where a fallback leads as moved, and home again', async () => {
    const fleet = await startFleet(['a', 'b'], {
      models: [
        { name: 'm', ...to('a/x'), strategy: { mode: 'loadbalance', affinity: 'session' }, fallbacks: ['spare'] },
        { name: 'spare', ...to('b/y') },
      ].map((group) => ({ ...group, routes: group.routes.map((route) => ({ ...route, weight: 1 })) })),
    });
    fleet.does.set('a', 503);
    const away = await askIn(fleet.host, 's');
    expect([away.target, away.result]).to.deep.equal(['b', 'moved']);
    fleet.does.clear();
    const home = await askIn(fleet.host, 's', { isLater: true });
    expect([home.target, home.result]).to.deep.equal(['a', 'followed']);
  });

  it('is absent without affinity, on failure, with X-Gateway-Affinity: off, and on other surfaces', async () => {
    const fleet = await grouped({ mode: 'loadbalance' });
    expect((await askIn(fleet.host, 's', { headers: { 'x-gateway-affinity': 'off' } })).result).to.equal(null);
    for (const name of NAMES) fleet.does.set(name, 503);
    const failed = await askIn(fleet.host, 's');
    expect([failed.status, failed.result]).to.deep.equal([502, null]);
    const without = await grouped({ mode: 'loadbalance', affinity: 'off' });
    expect((await askIn(without.host, 's')).result).to.equal(null);
    const embedded = await fleet.host.post('/v1/embeddings', { model: 'm', input: 'x' }, { 'x-gateway-session': 's' });
    expect(embedded.headers.get('x-gateway-affinity')).to.equal(null);
  });
});

describe('a session under a strategy whose order changes', () => {
  it('stays at what served it although another one is faster by now; without a session the order follows', async () => {
    const clock = fakeClock();
    const fleet = await startFleet(
      ['a', 'b'],
      {
        models: [{ name: 'm', ...to('a/x', 'b/x'), strategy: { mode: 'least-latency', affinity: 'session' } }],
      },
      { clock },
    );
    const { host } = fleet;
    const off = { headers: { 'x-gateway-affinity': 'off' } };
    let slow = 'b';
    let slowMs = 500;
    fleet.pause = () => clock.advance(fleet.calls.at(-1)?.startsWith(slow) ? slowMs : 10);
    for (let at = 0; at < 6; at += 1) await askIn(host, undefined, off);
    const first = await askIn(host, 's');
    expect([first.target, first.result]).to.deep.equal(['a', 'new']);
    slow = 'a';
    slowMs = 900;
    for (let at = 0; at < 40; at += 1) await askIn(host, undefined, off);
    expect((await askIn(host, undefined, off)).target, 'the order without a session').to.equal('b');
    const later = await askIn(host, 's', { isLater: true });
    expect([later.target, later.result]).to.deep.equal(['a', 'followed']);
  });
});
