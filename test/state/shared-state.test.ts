import { expect } from 'chai';
import type { SharedState } from 'gw/contract';
import { Recent } from '../../host/state/recent.ts';
import { createMemoryState } from '../../host/state/shared-state.ts';
import { type FakeClock, fakeClock } from '../kit/index.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const MIB = 1024 * 1024;
const MAX_KEYS = 100_000;

function state(): { readonly state: SharedState; readonly clock: FakeClock } {
  const clock = fakeClock();
  return { state: createMemoryState(clock), clock };
}

const text = async (store: SharedState, key: string): Promise<string | undefined> => {
  const found = await store.get(key);
  return found && new TextDecoder().decode(found);
};

describe('shared numbers', () => {
  it('start at 0, add up, and are one number per key', async () => {
    const { state: s } = state();
    expect([
      await s.add('a', 2),
      await s.add('a', 0.5),
      await s.add('b', -1),
      await s.add('a', 0),
      await s.add('', 1),
    ]).to.deep.equal([2, 2.5, -1, 2.5, 1]);
    await s.delete('a');
    expect(await s.add('a', 1)).to.equal(1);
  });

  it('are forgotten by use and not by age: the busiest stays, however many others come', async () => {
    const { state: s } = state();
    await s.add('busiest', 1);
    await s.add('idle', 1);
    for (let other = 0; other < 3 * MAX_KEYS; other += 1) {
      await s.add(`key ${other}`, 1);
      if (other % 1000 === 0) await s.add('busiest', 1);
    }
    expect(await s.add('busiest', 0)).to.equal(301);
    expect(await s.add('idle', 0)).to.equal(0);
    expect(await s.add(`key ${3 * MAX_KEYS - 1}`, 0)).to.equal(1);
  }).timeout(60_000);

  it('start again when they were not used for their time', async () => {
    const { state: s, clock } = state();
    await s.add('short', 5, 1000);
    await s.add('month', 5);
    for (let second = 0; second < 3; second += 1) {
      clock.advance(999);
      expect(await s.add('short', 1, 1000)).to.equal(6 + second);
    }
    clock.advance(1000);
    expect(await s.add('short', 1, 1000)).to.equal(1);
    clock.advance(31 * DAY_MS - 5000);
    expect(await s.add('month', 0)).to.equal(5);
    clock.advance(31 * DAY_MS - 1);
    expect(await s.add('month', 0)).to.equal(5);
    clock.advance(31 * DAY_MS);
    expect(await s.add('month', 0)).to.equal(0);
  });

  it('take no number that would make them none', async () => {
    const { state: s } = state();
    await s.add('a', 1);
    for (const by of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      expect(
        await s.add('a', by).then(
          () => undefined,
          (error: Error) => error.message,
        ),
      ).to.equal(`${by} cannot be added to a shared number`);
    }
    expect(await s.add('a', 1)).to.equal(2);
  });
});

describe('shared values', () => {
  it('are kept for their time, and replaced by the next', async () => {
    const { state: s, clock } = state();
    await s.set('k', 'one', 1000);
    clock.advance(999);
    expect(await text(s, 'k')).to.equal('one');
    clock.advance(1);
    expect(await s.get('k')).to.equal(undefined);
    await s.set('k', 'two', 1000);
    await s.set('k', 'three', 10);
    clock.advance(9);
    expect(await text(s, 'k')).to.equal('three');
    await s.delete('k');
    expect(await s.get('k')).to.equal(undefined);
    await s.set('k', '', 1000);
    expect(await text(s, 'k')).to.equal('');
  });

  it('are bytes of their own, whatever they are, and copies in both directions', async () => {
    const { state: s } = state();
    const bytes = Uint8Array.from({ length: 256 }, (_none, at) => at);
    await s.set('k', bytes.subarray(100), DAY_MS);
    bytes.fill(7);
    const found = await s.get('k');
    expect([...(found ?? [])]).to.deep.equal(Array.from({ length: 156 }, (_none, at) => 100 + at));
    found?.fill(8);
    expect((await s.get('k'))?.[0]).to.equal(100);
    await s.set('text', 'é\u{1f600}', DAY_MS);
    expect(Buffer.from((await s.get('text')) ?? '').toString('hex')).to.equal('c3a9f09f9880');
  });

  it('are refused where they are neither bytes nor texts, and the one before stays', async () => {
    const { state: s } = state();
    await s.set('k', 'one', DAY_MS);
    for (const value of [5, undefined, null, {}, [1]] as unknown[])
      expect(
        await s.set('k', value as string, DAY_MS).then(
          () => '',
          (error: Error) => error.message,
        ),
      ).to.equal('a shared value must be a Uint8Array or a string');
    expect(await text(s, 'k')).to.equal('one');
  });

  it('are bounded in bytes: the least recently used go first, and reading is using', async () => {
    const { state: s } = state();
    const value = 'x'.repeat(MIB);
    for (let key = 0; key < 100; key += 1) {
      await s.set(`k${key}`, value, DAY_MS);
      expect((await s.get('k0'))?.length, `after ${key}`).to.equal(MIB);
    }
    const kept = await Promise.all(Array.from({ length: 100 }, (_, key) => s.get(`k${key}`)));
    const places = kept.flatMap((found, key) => (found === undefined ? [] : [key]));
    expect(places).to.deep.equal([0, ...Array.from({ length: 62 }, (_, at) => 38 + at)]); // 63 of them and their keys are less than 64 MiB
  });

  it('are bounded each: one that is too long is not kept, and the one before it is gone', async () => {
    const { state: s } = state();
    await s.set('k', 'one', DAY_MS);
    await s.set('other', 'kept', DAY_MS);
    await s.set('k', 'x'.repeat(8 * MIB + 1), DAY_MS);
    expect([await s.get('k'), await text(s, 'other')]).to.deep.equal([undefined, 'kept']);
    await s.set('k', 'é'.repeat(4 * MIB), DAY_MS);
    expect((await s.get('k'))?.length).to.equal(8 * MIB);
    await s.set('k', `é${'é'.repeat(4 * MIB)}`, DAY_MS);
    expect(await s.get('k')).to.equal(undefined);
  });

  it('and numbers and buckets are distinguished by the whole of a long key', async () => {
    const { state: s } = state();
    const [one, two] = [`${'k'.repeat(100_000)}1`, `${'k'.repeat(100_000)}2`];
    await s.set(one, 'one', DAY_MS);
    await s.set(two, 'two', DAY_MS);
    expect([await text(s, one), await text(s, two)]).to.deep.equal(['one', 'two']);
    expect([await s.add(one, 1), await s.add(two, 5), await s.add(one, 1)]).to.deep.equal([1, 5, 2]);
    const spec = { ratePerSecond: 1, burst: 1 };
    expect([
      (await s.take(one, spec, 1)).taken,
      (await s.take(two, spec, 1)).taken,
      (await s.take(one, spec, 1)).taken,
    ]).to.deep.equal([true, true, false]);
    await s.delete(one);
    expect([await s.get(one), await s.add(one, 0), await text(s, two)]).to.deep.equal([undefined, 0, 'two']);
  });
});

describe('what is kept by its use', () => {
  it('counts its bytes right over any order of setting, reading, deleting and running out', () => {
    const recent = new Recent<number>({ maxKeys: 20, maxBytes: 500 });
    const model = new Map<string, { value: number; bytes: number; until: number }>();
    let seed = 3;
    const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
    for (let now = 0; now < 5000; now += 1) {
      const key = `k${random(30)}`;
      const what = random(10);
      if (what < 6) {
        const entry = { value: now, bytes: random(60), until: now + 1 + random(80) };
        recent.set(key, entry.value, entry.bytes, entry.until);
        model.set(key, entry);
      } else if (what < 9) {
        const found = recent.get(key, now);
        const known = model.get(key);
        if (found !== undefined) expect([found, known && known.until > now]).to.deep.equal([known?.value, true]);
      } else {
        recent.delete(key);
        model.delete(key);
      }
      expect(recent.size).to.be.at.most(20);
      expect(recent.bytes).to.be.within(0, 500);
    }
    for (const key of model.keys()) recent.delete(key);
    expect([recent.size, recent.bytes]).to.deep.equal([0, 0]);
  });

  it('makes room a hundredth at a time', () => {
    const recent = new Recent<number>({ maxKeys: 1000 });
    for (let key = 0; key < 1000; key += 1) recent.set(String(key), key, 0, 1);
    expect([recent.size, recent.get('0', 0)]).to.deep.equal([1000, 0]);
    recent.set('new', 1, 0, 1);
    expect(recent.size).to.equal(991);
    expect([recent.get('0', 0), recent.get('10', 0), recent.get('11', 0), recent.get('new', 0)]).to.deep.equal([
      0,
      undefined,
      11,
      1,
    ]);
  });

  it('may fill its bytes to the last one, and then makes room a hundredth at a time', () => {
    const recent = new Recent<number>({ maxKeys: 10_000, maxBytes: 2000 });
    for (let key = 0; key < 1000; key += 1) recent.set(String(key), key, 2, 1);
    expect([recent.size, recent.bytes]).to.deep.equal([1000, 2000]);
    recent.set('new', 1, 1, 1);
    expect([recent.size, recent.bytes]).to.deep.equal([990, 1979]); // a hundredth of 1001, rounded up
  });
});

describe('groups of buckets', () => {
  it('make room for their own only', async () => {
    const state = createMemoryState(fakeClock());
    const spec = { ratePerSecond: 1, burst: 1 };
    await state.take('k', { ...spec, group: 'keys' }, 1);
    for (let user = 0; user <= 100_000; user += 1) void state.take(`u${user}`, { ...spec, group: 'users' }, 1);
    expect((await state.take('k', { ...spec, group: 'keys' }, 1)).taken).to.equal(false);
    expect((await state.take('u0', { ...spec, group: 'users' }, 1)).taken).to.equal(true); // it made room
  });
});
