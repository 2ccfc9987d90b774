import { expect } from 'chai';
import { createStateClient } from '../../builtins/state/redis-client.ts';
import { RedisLimits } from '../../builtins/state/redis-limits.ts';
import { systemClock } from '../../host/common/clock.ts';
import { readStateSettings } from '../../host/environment/state-settings.ts';
import { createLogger } from '../../host/log/logger.ts';
import { GroupedBuckets } from '../../host/state/grouped-buckets.ts';
import type { Ask } from '../../host/state/shared-limits.ts';
import { atEnd, cases, Dice, forSuite, type RedisServer, startRedis } from '../kit/index.ts';

/** So slow that what comes back while a test runs is less than what counts. */
const SLOW = 1e-9;
const DEBIT = Number.NEGATIVE_INFINITY;

describe('buckets on a server that speaks the protocol of Redis', () => {
  const server = forSuite<RedisServer>(() => startRedis());

  async function opened(prefix: string): Promise<RedisLimits> {
    const settings = readStateSettings({ GW_STATE_URL: server().url, GW_STATE_PREFIX: prefix }, []);
    const client = await createStateClient(settings!, 'gw-test');
    await client.connect();
    atEnd(() => client.destroy());
    const lines = { write: () => {} } as unknown as Parameters<typeof createLogger>[1];
    const log = createLogger('error', lines, { redact: (text: string) => text } as Parameters<typeof createLogger>[2]);
    return new RedisLimits({ client, clock: systemClock, log, prefix, id: `replica of ${prefix}` });
  }

  /** What memory does with them: all of them, or none. */
  function takeInMemory(buckets: GroupedBuckets, asks: readonly Ask[]): number | undefined {
    for (const [index, { key, spec, floor }] of asks.entries())
      if (!buckets.of(spec.group).take(key, spec, 0, 0, floor).taken) return index;
    for (const { key, spec, cost } of asks) buckets.of(spec.group).take(key, spec, 0, cost, DEBIT);
    return undefined;
  }

  for (let seed = 1; seed <= cases(50); seed += 1)
    it(`decide as those in memory do, from all or from none (seed ${seed})`, async () => {
      const limits = await opened(`memory-${seed}`);
      const memory = new GroupedBuckets();
      const dice = new Dice(seed);
      for (let step = 0; step < 200; step += 1) {
        const keys = ['a', 'b', 'c', 'd'].filter(() => dice.below(2) === 0);
        const asks = keys.map((key): Ask => {
          const isDebit = dice.below(6) === 0;
          const cost = dice.below(4);
          const spec = { ratePerSecond: SLOW, burst: 20 + (key.charCodeAt(0) % 7), group: dice.pick(['one', 'other']) };
          return { key, spec, cost: dice.below(5) === 0 ? -cost : cost, floor: isDebit ? DEBIT : Math.max(cost, 1) };
        });
        if (asks.length === 0) continue;
        const { refusedAt } = await limits.takeAll(asks);
        expect(refusedAt, JSON.stringify({ step, asks })).to.equal(takeInMemory(memory, asks));
      }
    });

  it('say how long the first one that is short of tokens takes to have enough', async () => {
    const limits = await opened('waiting');
    const spec = { ratePerSecond: 1 / 60, burst: 2 };
    const ask = { key: 'k', spec, cost: 2, floor: 2 };
    expect((await limits.takeAll([ask])).refusedAt).to.equal(undefined);
    const { refusedAt, retryAfterMs } = await limits.takeAll([{ ...ask, key: 'other' }, ask]);
    expect(refusedAt).to.equal(1);
    expect(retryAfterMs).to.be.within(90_000, 120_000);
    const { levels } = await limits.takeAll([{ ...ask, key: 'other', cost: 0, floor: 0 }]);
    expect(levels).to.deep.equal([2]); // nothing was taken from the one before
  });

  it('go on where the server forgot the scripts', async () => {
    const limits = await opened('forgotten');
    const ask = { key: 'k', spec: { ratePerSecond: SLOW, burst: 2 }, cost: 1, floor: 1 };
    await limits.takeAll([ask]);
    await server().client.scriptFlush();
    expect([(await limits.takeAll([ask])).refusedAt, (await limits.takeAll([ask])).refusedAt]).to.deep.equal([
      undefined,
      0,
    ]);
  });

  it('are others under another prefix, and all of them have an end', async () => {
    const ask = { key: 'k', spec: { ratePerSecond: SLOW, burst: 1 }, cost: 1, floor: 1 };
    const [one, other] = [await opened('one-fleet'), await opened('other-fleet')];
    expect([(await one.takeAll([ask])).refusedAt, (await other.takeAll([ask])).refusedAt]).to.deep.equal([
      undefined,
      undefined,
    ]);
    await one.beat();
    atEnd(() => one.leave());
    const keys = await server().client.keys('*');
    expect(keys.filter((key) => !key.startsWith('gw:{'))).to.deep.equal([]);
    for (const key of keys) expect(await server().client.pTTL(key), key).to.be.greaterThan(0);
  });

  it('count the processes that live, and one that leaves no more', async () => {
    const [one, other] = [await opened('counted'), await opened('counted')];
    await one.beat();
    expect([one.replicas, one.isUp]).to.deep.equal([1, true]);
    await other.beat();
    expect(other.replicas).to.equal(1); // under one id it is the same process
    await Promise.all([one.leave(), other.leave()]);
    expect(await server().client.zCard('gw:{counted}:1:m')).to.equal(0);
  });
});
