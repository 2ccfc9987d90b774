import { expect } from 'chai';
import { createStateClient } from '../../builtins/state/redis-client.ts';
import { RedisPlaces } from '../../builtins/state/redis-places.ts';
import { readStateSettings } from '../../host/environment/state-settings.ts';
import type { PlacesHeld, Resource } from '../../host/state/shared-places.ts';
import { atEnd, cases, Dice, forSuite, type RedisServer, startRedis } from '../kit/index.ts';
import { lastPrefix, newPrefix, settled } from './together.ts';

const resource = (key: string, most: number): Resource => ({ group: 'tests', key, most });

describe('places on a server that speaks the protocol of Redis', () => {
  const server = forSuite<RedisServer>(() => startRedis());

  /** So many processes on one prefix. */
  async function opened(count: number, isSettled = true): Promise<readonly RedisPlaces[]> {
    const prefix = newPrefix();
    if (isSettled) await settled(server(), prefix);
    const settings = readStateSettings({ GW_STATE_URL: server().url, GW_STATE_PREFIX: prefix }, [])!;
    return Promise.all(
      Array.from({ length: count }, async (_, at) => {
        const client = await createStateClient(settings, 'gw-test');
        await client.connect();
        atEnd(() => client.destroy());
        return new RedisPlaces({ client, prefix, id: `process-${at}` });
      }),
    );
  }

  for (let seed = 1; seed <= cases(20); seed += 1)
    it(`are never more than there are, in all of the resources or in none (seed ${seed})`, async () => {
      const processes = await opened(3);
      const dice = new Dice(seed);
      const resources = [resource('a', 1), resource('b', 3), resource('c', 7)];
      const held: { readonly by: RedisPlaces; readonly place: PlacesHeld }[] = [];
      const takenOf = (key: string): number =>
        held.filter(({ place }) => place.of.some((each) => each.key === key)).length;
      for (let step = 0; step < 150; step += 1) {
        const by = dice.pick(processes);
        if (held.length > 0 && dice.below(2) === 0) {
          const [{ by: owner, place }] = held.splice(dice.below(held.length), 1) as [(typeof held)[number]];
          owner.giveBack(place);
          await owner.renew(); // the next one on another connection finds it free
          continue;
        }
        const of = resources.filter(() => dice.below(2) === 0);
        if (of.length === 0) continue;
        const wanted = of.length === 1 ? 1 + dice.below(4) : 1;
        const answer = await by.take({ of, wanted, isQueued: false });
        const room = Math.min(...of.map(({ key, most }) => most - takenOf(key)));
        expect(answer!.held.length, JSON.stringify({ step, of })).to.equal(Math.min(wanted, room));
        expect(answer!.refusedAt === undefined).to.equal(room >= wanted);
        for (const place of answer!.held) held.push({ by, place });
      }
      for (const { by, place } of held) by.giveBack(place);
      for (const each of processes) await each.renew();
      for (const each of resources) {
        const [first] = processes;
        expect((await first!.take({ of: [each], wanted: 100, isQueued: false }))!.held).to.have.lengthOf(each.most);
      }
    });

  it('go to who has waited longest, so that no process starves', async () => {
    const [one, other] = (await opened(2)) as [RedisPlaces, RedisPlaces];
    const ask = { of: [resource('single', 1)], wanted: 1, isQueued: true };
    let [place] = (await one.take(ask))!.held;
    const order: string[] = [];
    for (let round = 0; round < 6; round += 1) {
      expect((await other.take(ask))!.held).to.deep.equal([]);
      expect((await one.take(ask))!.held).to.deep.equal([]);
      const isOther = round % 2 === 0;
      (isOther ? one : other).giveBack(place!);
      await (isOther ? one : other).renew();
      const [first, second] = isOther ? [one, other] : [other, one]; // who just had it asks first
      expect((await first.take(ask))!.held).to.deep.equal([]);
      [place] = (await second.take(ask))!.held;
      expect(place).to.not.equal(undefined);
      order.push(isOther ? 'other' : 'one');
    }
    expect(order).to.deep.equal(['other', 'one', 'other', 'one', 'other', 'one']);
  });

  it('are free again where a process does not say any more that it lives', async () => {
    const [one, other] = (await opened(2)) as [RedisPlaces, RedisPlaces];
    const ask = { of: [resource('lost', 1)], wanted: 1, isQueued: false };
    expect((await one.take(ask))!.held).to.have.lengthOf(1);
    expect((await other.take(ask))!.held).to.have.lengthOf(0);
    const [key] = await server().client.keys(`gw:{${lastPrefix()}}:1:c:*`);
    const [member] = await server().client.zRange(key!, 0, -1);
    await server().client.zAdd(key!, { score: 1, value: member! }); // its time is over
    expect((await other.take(ask))!.held).to.have.lengthOf(1);
  });

  it('are said again after the server lost them, and not granted before', async () => {
    const [one, other] = (await opened(2)) as [RedisPlaces, RedisPlaces];
    const of = [resource('forgotten', 2)];
    const ask = { of, wanted: 1, isQueued: false };
    await one.take(ask);
    other.hold(of); // while the server was away
    const prefix = lastPrefix();
    await server().client.del(await server().client.keys(`gw:{${prefix}}:1:*`));
    expect(await other.take(ask)).to.equal(undefined);
    await Promise.all([one.renew(), other.renew()]);
    await settled(server(), prefix);
    expect((await other.take(ask))!.held).to.deep.equal([]);
    await one.leave();
    expect((await other.take(ask))!.held).to.have.lengthOf(1);
  });

  it('have an end, all of them, and names that say nothing', async () => {
    const [one] = (await opened(1)) as [RedisPlaces];
    await one.take({ of: [resource('canary-name', 1)], wanted: 2, isQueued: true });
    const keys = (await server().client.keys(`gw:{${lastPrefix()}}:1:*`)).filter((key) => !key.endsWith(':e'));
    expect(keys).to.have.lengthOf(2);
    for (const key of keys) {
      expect(key).not.to.include('canary');
      expect(await server().client.pTTL(key), key).to.be.greaterThan(0);
    }
  });
});
