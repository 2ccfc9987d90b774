/** The choice among credentials, without a network. */
import { expect } from 'chai';
import { Visit } from '../../host/pipeline/credentials/visit.ts';
import { cases, Dice, seeded } from '../kit/index.ts';
import { type Call, credentialOf, failure, PoolWorld } from '../upstream/credentials/pool-world.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const BAD_KEY = failure({ status: 401, reason: 'key' });

const callOf = (call: Call | string): Call => {
  if (typeof call === 'string') throw new Error(call);
  return call;
};
const nameOf = (call: Call): string => call.used.entry.credential.name;

/** What a request without further credentials gets, and how it ends. */
function ask(world: PoolWorld, error?: Error, model = 'm'): string {
  const call = world.begin(model);
  if (typeof call === 'string') return call;
  world.end(call, error as never);
  return nameOf(call);
}

describe('the choice of a credential', () => {
  it('follows the weights within 1 % without load, and gives nothing to a weight of 0', () => {
    const world = new PoolWorld(
      [credentialOf('a', { weight: 3 }), credentialOf('b'), credentialOf('c'), credentialOf('d', { weight: 0 })],
      seeded(7),
    );
    const shares: Record<string, number> = { a: 0, b: 0, c: 0, d: 0 };
    for (let at = 0; at < 100_000; at += 1) {
      const name = ask(world);
      shares[name] = (shares[name] ?? 0) + 1;
    }
    expect((shares['a'] ?? 0) / 100_000).to.be.closeTo(0.6, 0.01);
    expect((shares['b'] ?? 0) / 100_000).to.be.closeTo(0.2, 0.01);
    expect((shares['c'] ?? 0) / 100_000).to.be.closeTo(0.2, 0.01);
    expect(shares['d']).to.equal(0);
  });

  it('gives a slow one less', () => {
    const world = new PoolWorld([credentialOf('slow'), credentialOf('b'), credentialOf('c')], seeded(3));
    const running: { call: Call; until: number }[] = [];
    const shares: Record<string, number> = {};
    for (let now = 0; now < 20_000; now += 1) {
      for (const ended of running.filter(({ until }) => until <= now)) {
        world.end(ended.call);
        running.splice(running.indexOf(ended), 1);
      }
      const call = callOf(world.begin('m'));
      shares[nameOf(call)] = (shares[nameOf(call)] ?? 0) + 1;
      running.push({ call, until: now + (nameOf(call) === 'slow' ? 200 : 5) });
    }
    expect((shares['slow'] ?? 0) / 20_000).to.be.lessThan(0.15);
  });

  it('never exceeds max_concurrency, whatever starts, ends, is cancelled and configured anew', () => {
    for (let seed = 0; seed < cases(10_000); seed += 1) {
      const dice = new Dice(seed);
      const make = () => ['a', 'b', 'c'].map((name, at) => credentialOf(name, { maxConcurrency: at + 1 }));
      const world = new PoolWorld(make(), seeded(seed));
      const running: Call[] = [];
      for (let step = 0; step < 40; step += 1) {
        const what = dice.below(7);
        if (what < 4) {
          const call = world.begin('m');
          if (typeof call === 'string') expect([call, running.length]).to.deep.equal(['saturated', 6]);
          else running.push(call);
        } else if (what < 6) {
          const [ended] = running.splice(dice.below(running.length || 1), 1);
          if (ended) world.end(ended, dice.below(2) === 0 ? undefined : failure({ status: 500 }), 'ignored');
        } else world.swap(make());
        for (const [at, name] of ['a', 'b', 'c'].entries())
          expect(running.filter((call) => nameOf(call) === name).length).to.be.at.most(at + 1);
      }
    }
  });
});

describe('a rest', () => {
  it('is of one model, as long as the vendor says, between a second and ten minutes', () => {
    for (const [hint, restMs] of [
      [undefined, 5 * SECOND],
      [500, SECOND],
      [20 * SECOND, 20 * SECOND],
      [10 * MINUTE, 10 * MINUTE],
    ] as const) {
      const world = new PoolWorld([credentialOf('a')]);
      ask(world, failure({ status: 429 }, hint));
      expect([world.read('a', 'm'), world.read('a', 'n')]).to.deep.equal(['resting', 'ready']);
      world.clock.advance(restMs - 1);
      expect(world.read('a', 'm')).to.equal('resting');
      world.clock.advance(1);
      expect(world.read('a', 'm')).to.equal('ready');
    }
    const world = new PoolWorld([credentialOf('a')]);
    ask(world, failure({ status: 429, asksNoWait: true }));
    world.clock.advance(SECOND);
    expect(world.read('a', 'm'), 'no wait is a second').to.equal('ready');
    ask(world, failure({ status: 429 }, 10 * MINUTE + 1));
    expect(world.read('a', 'n'), 'a longer one').to.equal('benched');
  });
});

describe('a bench', () => {
  it('ends by a try after 10, 20, 40, 60 minutes, one at a time, and by a new value at once', () => {
    const world = new PoolWorld([credentialOf('a')]);
    ask(world, BAD_KEY);
    expect([world.read('a', 'm'), world.read('a', 'n')]).to.deep.equal(['benched', 'benched']);
    for (const minutes of [10, 20, 40, 60, 60]) {
      world.clock.advance(minutes * MINUTE - 1);
      expect(ask(world)).to.equal('unusable');
      world.clock.advance(1);
      const probe = callOf(world.begin('m'));
      for (let at = 0; at < 1000; at += 1) expect(world.begin('n')).to.equal('unusable');
      world.end(probe, BAD_KEY);
    }
    expect(world.lines.filter(({ message }) => message === 'credential benched')).to.have.lengthOf(1);
    Object.assign(world.credentials[0] as object, { digest: 'a-2', takenAt: 1 });
    expect(ask(world)).to.equal('a');
  });

  it('is tried first after the vendor’s hint, and then after 20 minutes at least', () => {
    for (const [hint, firstMs] of [
      [1, SECOND],
      [90 * SECOND, 90 * SECOND],
      [3 * 60 * MINUTE, 60 * MINUTE],
    ] as const) {
      const world = new PoolWorld([credentialOf('a')]);
      ask(world, failure({ status: 401, reason: 'key' }, hint));
      world.clock.advance(firstMs - 1);
      expect(ask(world)).to.equal('unusable');
      world.clock.advance(1);
      expect(ask(world, failure({ status: 401, reason: 'key' }, 1))).to.equal('a');
      world.clock.advance(20 * MINUTE - 1);
      expect(ask(world)).to.equal('unusable');
    }
  });

  it('is left as it is by a try that ends otherwise, and cleared by one that succeeds', () => {
    const world = new PoolWorld([credentialOf('a'), credentialOf('b')]);
    world.end(callOf(world.begin('m')), BAD_KEY);
    world.end(callOf(world.begin('m')), BAD_KEY);
    world.clock.advance(10 * MINUTE);
    expect(ask(world, failure({ status: 500 }))).to.equal('a');
    expect(ask(world)).to.equal('a');
    expect(world.lines.find(({ message }) => message === 'credential recovered')?.attributes).to.include({
      after_ms: 600_000,
    });
    expect(world.read('a', 'm')).to.equal('ready');
  });

  it('takes three refusals in a row that another credential answered, and is of the model alone', () => {
    const world = new PoolWorld([credentialOf('a'), credentialOf('b')], () => 0);
    const request = (second: Error | undefined): void => {
      const [visit, routing] = [new Visit(), {}];
      const first = callOf(world.begin('m', visit, routing));
      expect(nameOf(first)).to.equal('a');
      world.end(first, failure({ status: 403, reason: 'key' }));
      expect(visit.next?.class).to.equal('no_access');
      world.end(callOf(world.begin('m', visit, routing)), second as never);
    };
    const refused = failure({ status: 403, reason: 'key' });
    for (let at = 0; at < 20; at += 1) request(refused);
    expect(world.read('a', 'm'), 'content that all refuse').to.equal('ready');
    request(undefined);
    request(undefined);
    world.end(callOf(world.begin('m')));
    request(undefined);
    request(undefined);
    expect(world.read('a', 'm'), 'not in a row').to.equal('ready');
    request(undefined);
    expect([world.read('a', 'm'), world.read('a', 'n'), world.read('b', 'm')]).to.deep.equal([
      'benched',
      'ready',
      'ready',
    ]);
    world.clock.advance(10 * MINUTE);
    expect(world.read('a', 'm')).to.equal('ready');
  });

  it('follows no 401 within a minute of a success, however many there are, and none that depends on the request', () => {
    const world = new PoolWorld([credentialOf('a')]);
    ask(world);
    for (let at = 0; at < 6; at += 1) {
      world.clock.advance(10 * SECOND);
      ask(world, BAD_KEY);
      expect(world.read('a', 'm')).to.equal('ready');
    }
    world.clock.advance(SECOND);
    ask(world, BAD_KEY);
    expect(world.read('a', 'm')).to.equal('benched');
    const other = new PoolWorld([credentialOf('a')]);
    ask(other, failure({ status: 402, reason: 'billing', ofRequest: true }));
    expect(other.read('a', 'm')).to.equal('ready');
  });
});

describe('one request', () => {
  it('does not count as refused what it was itself answered for', () => {
    const world = new PoolWorld([credentialOf('a'), credentialOf('b', { weight: 0 })]);
    for (let at = 0; at < 5; at += 1) {
      const [visit, routing] = [new Visit(), {}];
      world.end(callOf(world.begin('m', visit, routing)), failure({ status: 403, reason: 'key' }));
      visit.begin();
      world.end(callOf(world.begin('m', visit, routing)));
    }
    expect(world.read('a', 'm')).to.equal('ready');
  });

  it('is tried at a benched credential only where no other is left, if what that says goes to the client', () => {
    const world = new PoolWorld([credentialOf('a'), credentialOf('b')], () => 0);
    world.end(callOf(world.begin('m')), BAD_KEY);
    world.clock.advance(11 * MINUTE);
    for (const tells of ['status', 'count', 'nothing'] as const) {
      const call = callOf(world.begin('m', new Visit({ tells })));
      expect(nameOf(call), tells).to.equal('b');
      world.end(call);
    }
    world.clock.advance(2 * MINUTE);
    world.end(callOf(world.begin('n', new Visit({ account: 'acme/b' }))), BAD_KEY);
    const probe = callOf(world.begin('m', new Visit({ tells: 'nothing' })));
    expect(nameOf(probe)).to.equal('a');
    world.end(probe);
    expect(world.read('a', 'm'), 'it says nothing of the credential').to.equal('benched');
  });
});
