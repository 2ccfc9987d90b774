import { expect } from 'chai';
import type { PlaceAsk, PlacesHeld, PlacesTaken, Resource, SharedPlaces } from '../../host/state/shared-places.ts';
import { BoundedPlaces } from '../../host/stores/bounded-places.ts';
import { Place } from '../../host/stores/place.ts';
import { StateTrips } from '../../host/stores/state-trips.ts';
import {
  ask,
  chatReply,
  eventually,
  fakeClock,
  forSuite,
  MASTER_KEY,
  type RedisServer,
  replyJson,
  startRedis,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { lastPrefix, replicas, settled } from './together.ts';

const CHAT = '/v1/chat/completions';

/** An upstream that answers when it is let, and what the most calls were that it had at a time. */
async function heldUpstream() {
  let [now, most] = [0, 0];
  let waiting: (() => void)[] = [];
  const keys: (string | undefined)[] = [];
  const stub = await stubUpstream((request, response) => {
    keys.push(request.headers.authorization);
    now += 1;
    most = Math.max(most, now);
    waiting.push(() => {
      now -= 1;
      replyJson(response, 200, chatReply('hello'));
    });
  });
  const letGo = (): void => {
    const all = waiting;
    waiting = [];
    for (const answer of all) answer();
  };
  return { stub, keys, now: () => now, most: () => most, letGo };
}

const sendAll = (all: readonly TestHost[], count: number): Promise<number[]> =>
  Promise.all(Array.from({ length: count }, async (_, at) => (await all[at % all.length]!.post(CHAT, ask())).status));

const countOf = (statuses: readonly number[], status: number): number =>
  statuses.filter((each) => each === status).length;

describe('replicas that hold places together', function together() {
  this.timeout(60_000);
  const server = forSuite<RedisServer>(() => startRedis());
  const first = (prefix: string): Promise<unknown> => settled(server(), prefix);

  it('call a target no more at a time than it may be called, and serve all that wait', async () => {
    const { stub, most, letGo } = await heldUpstream();
    const target = stub.target('a', { concurrency: { max_concurrency: 2 } });
    const { all } = await replicas(server().url, 3, { targets: [target] }, { first });
    const statuses = sendAll(all, 12);
    let isOver = false;
    void statuses.then(() => (isOver = true));
    await eventually(() => {
      letGo();
      return isOver;
    }, 30_000);
    expect(countOf(await statuses, 200)).to.equal(12);
    expect(most()).to.be.within(1, 2);
  });

  it('call a credential no more at a time than it may be called, and another in its place', async () => {
    const { stub, keys, now, letGo } = await heldUpstream();
    const credentials = ['one', 'two'].map((name) => ({
      name,
      api_key: `\${KEY_${name.toUpperCase()}}`,
      max_concurrency: 1,
    }));
    const { all } = await replicas(
      server().url,
      2,
      {
        providers: { acme: { kind: 'openai', base_url: `${stub.url}/v1`, credentials } },
        targets: [{ virtual_key: 'acme', models: ['m'] }],
      },
      { first, variables: { KEY_ONE: 'sk-of-one-0123456789', KEY_TWO: 'sk-of-two-0123456789' } },
    );
    const statuses = sendAll(all, 6);
    await eventually(() => now() === 2);
    expect(new Set(keys)).to.deep.equal(new Set(['Bearer sk-of-one-0123456789', 'Bearer sk-of-two-0123456789']));
    await eventually(() => all.reduce((sum, { host }) => sum + host.slot.leases, 0) === 2); // the others were refused
    letGo();
    expect(countOf(await statuses, 200)).to.equal(2);
    expect(countOf(await statuses, 429)).to.equal(4);
  });

  it('have no more requests of an account in flight than it may have, and count those that are refused', async () => {
    const { stub, now, most, letGo } = await heldUpstream();
    const { all } = await replicas(
      server().url,
      3,
      { targets: [stub.target('a')], accounts: [{ path: '/', max_parallel: 4 }] },
      { first },
    );
    const statuses = sendAll(all, 12);
    await eventually(() => now() === 4);
    letGo();
    await eventually(() => {
      letGo();
      return all.every(({ host }) => host.slot.leases === 0);
    });
    expect(countOf(await statuses, 200)).to.equal(most());
    expect(most()).to.equal(4);
    expect(countOf(await statuses, 429)).to.equal(8);
    const refusals = all.flatMap(({ samples }) =>
      samples.filter(({ name }) => name === 'gateway_rate_limit_rejections_total').map(({ labels }) => labels),
    );
    expect(refusals).to.deep.equal(Array.from({ length: 8 }, () => ({ key_type: 'account' })));
    const again = sendAll(all, 3); // all places are free again
    await eventually(() => now() === 3);
    letGo();
    expect(await again).to.deep.equal([200, 200, 200]);
  });

  it('give the place of a client back that left while it was asked for', async () => {
    const { stub, now, letGo } = await heldUpstream();
    const { all, relays } = await replicas(
      server().url,
      1,
      { targets: [stub.target('a')], accounts: [{ path: '/', max_parallel: 1 }] },
      { first },
    );
    relays[0]!.mode = 'held';
    const leaving = new AbortController();
    const left = fetch(`${all[0]!.url}${CHAT}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(ask()),
      signal: leaving.signal,
    }).catch(() => undefined);
    await eventually(() => all[0]!.host.activity.count === 1);
    leaving.abort();
    await left;
    await eventually(() => all[0]!.host.activity.count === 0);
    relays[0]!.mode = 'pass';
    await eventually(() => all[0]!.samples.some(({ labels }) => labels['kind'] === 'slots'));
    await eventually(async () => (await server().client.keys(`gw:{${lastPrefix()}}:1:c:*`)).length === 0);
    const next = sendAll(all, 1);
    await eventually(() => now() === 1);
    letGo();
    expect(await next).to.deep.equal([200]);
  });
});

/** Places in memory, of one process. */
class MemoryPlaces implements SharedPlaces {
  answer: (ask: PlaceAsk) => Promise<PlacesTaken | undefined> = async ({ of, wanted }) => ({
    held: Array.from({ length: wanted }, () => this.hold(of)),
    refusedAt: undefined,
  });
  readonly held: PlacesHeld[] = [];
  take(asked: PlaceAsk): Promise<PlacesTaken | undefined> {
    return this.answer(asked);
  }
  hold(of: readonly Resource[]): PlacesHeld {
    const place = { of, id: String(Math.random()) };
    this.held.push(place);
    return place;
  }
  giveBack(place: PlacesHeld): void {
    this.held.splice(this.held.indexOf(place), 1);
  }
  heldOf({ key }: Resource): number {
    return this.held.filter(({ of }) => of.some((each) => each.key === key)).length;
  }
}

describe('places while their store is away', () => {
  const of = [{ group: 'tests', key: 'a', most: 10 }];
  const wanting = (wanted: number): PlaceAsk => ({ of, wanted, isQueued: false });

  function opened(count: number): { store: MemoryPlaces; places: BoundedPlaces; clock: ReturnType<typeof fakeClock> } {
    const clock = fakeClock();
    const store = new MemoryPlaces();
    const place = new Place<SharedPlaces | undefined>('places', 'memory', undefined);
    place.supply('redis', store);
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    const trips = new StateTrips({ clock, log, counters: { add: () => {}, observe: () => {} } }, () => ({
      backend: 'redis',
      replicas: count,
    }));
    return { store, places: new BoundedPlaces(place, trips, () => count), clock };
  }

  it('are a share of them, with what is held already', async () => {
    const { store, places } = opened(3);
    expect((await places.take(wanting(2))).held).to.have.lengthOf(2);
    store.answer = () => Promise.reject(new Error('away'));
    const { held, refusedAt } = await places.take(wanting(5));
    expect([held.length, refusedAt]).to.deep.equal([1, 0]); // a third of ten
    for (const place of held) places.giveBack(place);
    expect((await places.take(wanting(1))).held).to.have.lengthOf(1);
  });

  it('are one at least', async () => {
    const { store, places } = opened(30);
    store.answer = async () => undefined; // it lost everything a moment ago
    expect((await places.take(wanting(3))).held).to.have.lengthOf(1);
  });

  it('are given back where the answer comes too late', async () => {
    const { store, places, clock } = opened(2);
    const late = Promise.withResolvers<PlacesTaken>();
    store.answer = () => late.promise;
    const taking = places.take(wanting(1));
    clock.advance(250);
    const { held } = await taking;
    expect([held.length, store.held.length]).to.deep.equal([1, 1]);
    late.resolve({ held: [store.hold(of)], refusedAt: undefined });
    await eventually(() => store.held.length === 1);
    expect(store.held).to.deep.equal(held);
  });
});
