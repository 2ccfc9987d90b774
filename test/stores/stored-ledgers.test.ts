import { expect } from 'chai';
import type { Refusal, Reservation } from 'gw/contract';
import type { Booking, LedgerRepository, StoredAccount } from '../../host/stores/ledgers/ledger-repository.ts';
import { StoredLedgers } from '../../host/stores/ledgers/stored-ledgers.ts';
import { MOST_BOOKING, MOST_SUM } from '../../host/common/bounded-sum.ts';
import { WaitingBookings } from '../../host/stores/ledgers/waiting-bookings.ts';
import { WriteFault } from '../../host/stores/write-fault.ts';
import { Dice, fakeClock, type FakeClock } from '../kit/index.ts';

/** A table in memory that may be away. Others book into it as well. */
class Table implements LedgerRepository {
  readonly isShared: boolean;
  readonly sums = new Map<string, number>();
  readonly written: (readonly Booking[])[] = [];
  readonly asked: (number | undefined)[] = [];
  /** Keys of which it takes nothing. */
  readonly refuses = new Set<string>();
  /** So many writes meet another writer. */
  conflicts = 0;
  isAway = false;

  constructor(isShared = false) {
    this.isShared = isShared;
  }

  async book(bookings: readonly Booking[]): Promise<readonly StoredAccount[]> {
    await Promise.resolve();
    if (this.isAway) throw new Error('away');
    if (this.conflicts > 0) {
      this.conflicts -= 1;
      throw new WriteFault('conflict', new Error('deadlock'));
    }
    if (bookings.some(({ key }) => this.refuses.has(key))) throw new WriteFault('refused', new Error('driver says no'));
    this.written.push(bookings);
    for (const { ledger, key, amount, isAnew } of bookings)
      this.sums.set(`${ledger}/${key}`, amount + (isAnew ? 0 : (this.sums.get(`${ledger}/${key}`) ?? 0)));
    return this.#all().filter((stored) =>
      bookings.some(({ ledger, key }) => ledger === stored.ledger && key === stored.key),
    );
  }

  async read(withinMs?: number): Promise<readonly StoredAccount[]> {
    await Promise.resolve();
    this.asked.push(withinMs);
    if (this.isAway) throw new Error('away');
    return this.#all();
  }

  #all(): StoredAccount[] {
    return Array.from(this.sums, ([name, committed]) => {
      const [ledger = '', key = ''] = name.split('/');
      return { ledger, key, committed, limit: undefined };
    });
  }
}

interface Scene {
  readonly table: Table;
  readonly clock: FakeClock;
  readonly ledgers: StoredLedgers;
  readonly told: string[];
  /** What the lines say beside their messages. */
  readonly attributes: unknown[];
  /** Lets time pass, and what waits then. */
  readonly pass: (ms: number) => Promise<void>;
}

async function scene(table = new Table()): Promise<Scene> {
  const clock = fakeClock();
  const told: string[] = [];
  const attributes: unknown[] = [];
  const note = (message: string, more?: object): void => {
    told.push(message);
    attributes.push(more);
  };
  const ledgers = await StoredLedgers.load(table, {
    clock,
    backend: 'test',
    log: { debug: note, info: note, warn: note, error: note },
  });
  return {
    table,
    clock,
    ledgers,
    told,
    attributes,
    pass: async (ms) => {
      clock.advance(ms);
      for (let turn = 0; turn < 5; turn += 1)
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
    },
  };
}

function granted(answer: Reservation | Refusal): Reservation {
  if (!answer.isGranted) throw new Error('it was refused');
  return answer;
}

describe('ledgers that are stored', () => {
  it('answer from memory, write at once, and after that together', async () => {
    const { ledgers, table, pass } = await scene();
    const ledger = ledgers.open('l', { maxKeys: 0 });
    ledger.commit('k', 5);
    expect(ledger.committed('k')).to.equal(5);
    await pass(0);
    expect(table.sums.get('l/k')).to.equal(5);
    for (let call = 0; call < 50; call += 1) void granted(ledger.reserve('k', { amount: 9, limit: 1000 })).settle(2);
    ledger.commit('other', 1.5);
    await pass(99);
    expect(table.written).to.have.length(1);
    await pass(1);
    expect(table.written[1]).to.deep.equal([
      { ledger: 'l', key: 'k', amount: 100, limit: 1000, isAnew: false },
      { ledger: 'l', key: 'other', amount: 1, limit: undefined, isAnew: false },
    ]);
  });

  it('write nothing of what is only reserved, and nothing when nothing was spent', async () => {
    const { ledgers, table, pass, clock } = await scene();
    const ledger = ledgers.open('l', { maxKeys: 0 });
    granted(ledger.reserve('k', { amount: 5, limit: 10 }));
    granted(ledger.reserve('k', { amount: 5, limit: 20 })).release();
    await pass(5000);
    expect([table.written, clock.waiting]).to.deep.equal([[], 0]);
  });

  it('begin with what was spent before, whatever opens them', async () => {
    const table = new Table();
    table.sums.set('l/k', 90);
    const { ledgers } = await scene(table);
    const ledger = ledgers.open('l', { maxKeys: 0 });
    expect(ledger.reserve('k', { amount: 1, limit: 90 })).to.deep.equal({ isGranted: false, committed: 90 });
    expect(ledgers.open('another', { maxKeys: 0 }).committed('k')).to.equal(0);
  });

  it('keep what cannot be written until it can, and say so once', async () => {
    const { ledgers, table, pass, told } = await scene();
    const ledger = ledgers.open('l', { maxKeys: 0 });
    table.isAway = true;
    for (let time = 0; time < 3; time += 1) {
      ledger.commit('k', 7);
      await pass(1000);
    }
    expect([ledger.committed('k'), table.sums.size]).to.deep.equal([21, 0]);
    table.isAway = false;
    await pass(1000);
    expect([table.sums.get('l/k'), ledger.committed('k')]).to.deep.equal([21, 21]);
    expect(told).to.deep.equal(['the store of ledgers does not answer', 'the store of ledgers answers again']);
  });

  it('add up what other processes book, within a second, and read all of it after a pause', async () => {
    const { ledgers, table, pass } = await scene(new Table(true));
    const ledger = ledgers.open('l', { maxKeys: 0 });
    ledger.commit('k', 5);
    await pass(0);
    table.sums.set('l/k', 105);
    table.sums.set('l/new', 3);
    await pass(1000);
    expect([ledger.committed('k'), ledger.committed('new')]).to.deep.equal([105, 3]);
    expect(table.asked).to.deep.equal([undefined, 30_000]);
    table.isAway = true;
    for (let second = 0; second < 20; second += 1) await pass(1000);
    table.isAway = false;
    await pass(1000);
    expect(table.asked.at(-1)).to.equal(undefined);
  });

  it('write what waits when they close, and say what is lost', async () => {
    const { ledgers, table } = await scene(new Table(true));
    ledgers.open('l', { maxKeys: 0 }).commit('k', 5);
    await ledgers.close();
    expect(table.sums.get('l/k')).to.equal(5);
    const lost = await scene();
    lost.table.isAway = true;
    lost.ledgers.open('l', { maxKeys: 0 }).commit('k', 5);
    await lost.ledgers.close();
    expect(lost.told.at(-1)).to.equal('what was spent is lost: the store of ledgers did not come back');
    expect(lost.clock.waiting).to.equal(0);
  });

  it('forget in the store too who leaves at the bound', async () => {
    const table = new Table();
    for (const [key, sum] of [
      ['l/low', 1],
      ['l/high', 50],
      ['l/middle', 9],
    ] as const)
      table.sums.set(key, sum);
    const { ledgers, pass } = await scene(table);
    const ledger = ledgers.open('l', { maxKeys: 2 });
    expect([ledger.size, ledger.committed('high'), ledger.committed('middle')]).to.deep.equal([2, 50, 9]);
    ledger.commit('new', 70);
    ledger.commit('middle', 4); // `high` leaves for it
    await pass(0);
    expect([
      table.sums.get('l/low'),
      table.sums.get('l/middle'),
      table.sums.get('l/high'),
      table.sums.get('l/new'),
    ]).to.deep.equal([0, 4, 0, 70]);
  });
});

/** What is logged of an amount that is not believed. */
const UNBELIEVED = 'a booking is not between 0 and 1,000 US dollars; it is booked as the nearest of them';
const HOUR_MS = 60 * 60 * 1000;

describe('ledgers that are stored, with absurd numbers', () => {
  it('write no more than one booking may be, and name the key once an hour', async () => {
    const { ledgers, table, pass, told, attributes } = await scene();
    const ledger = ledgers.open('l', { maxKeys: 0 });
    for (let call = 0; call < 130; call += 1) ledger.commit('k', Number.MAX_SAFE_INTEGER);
    ledger.commit('k', NaN);
    ledger.commit('other', Infinity);
    ledger.commit('calm', MOST_BOOKING);
    await pass(0);
    expect([table.sums.get('l/k'), table.sums.get('l/other'), table.sums.get('l/calm')]).to.deep.equal([
      130 * MOST_BOOKING,
      MOST_BOOKING,
      MOST_BOOKING,
    ]);
    expect(told).to.deep.equal([UNBELIEVED, UNBELIEVED]);
    expect(attributes).to.deep.equal([
      { ledger: 'l', key: 'k', amount_usd: Number.MAX_SAFE_INTEGER / 1e6, booked_usd: 1000 },
      { ledger: 'l', key: 'other', amount_usd: 'Infinity', booked_usd: 1000 },
    ]);
    await pass(HOUR_MS - 1);
    ledger.commit('k', -5);
    expect(told).to.have.length(2);
    await pass(1);
    ledger.commit('k', -5);
    expect(attributes.slice(2)).to.deep.equal([{ ledger: 'l', key: 'k', amount_usd: -5e-6, booked_usd: 0 }]);
  });

  it('write amounts and limits that are whole and have bounds, whatever waits together', async () => {
    const table = new Table();
    const { ledgers, pass } = await scene(table);
    const ledger = ledgers.open('l', { maxKeys: 0 });
    table.sums.set('l/full', 1);
    table.isAway = true;
    for (const [key, limit] of [
      ['high', 1e300],
      ['part', 10.5],
      ['none', NaN],
    ] as const)
      void granted(ledger.reserve(key, { amount: 1, limit })).settle(1);
    for (let time = 0; time < 3; time += 1) {
      ledger.adopt('full', MOST_SUM - 1, 5);
      ledger.commit('full', 7);
      await pass(1000);
    }
    expect(ledger.committed('full')).to.equal(MOST_SUM);
    table.isAway = false;
    await pass(1000);
    const written = table.written.flat().map(({ key, amount, limit }) => [key, amount, limit]);
    expect(written).to.deep.equal([
      ['high', 1, MOST_SUM],
      ['part', 1, 11],
      ['none', 1, undefined],
      ['full', 7, 5], // sent while the store was away, and again as it was
      ['full', 14, 5],
    ]);
  });

  it('begin with a sum that cannot be read as with one that no budget allows, and say whose it is', async () => {
    const table = new Table();
    for (const [key, sum] of [
      ['l/broken', NaN],
      ['l/beyond', 2 ** 63],
      ['l/endless', Infinity],
    ] as const)
      table.sums.set(key, sum);
    const unreadable = Object.assign(Object.create(table) as Table, {
      read: async () =>
        (await table.read()).map((stored) =>
          Number.isNaN(stored.committed) ? { ...stored, committed: undefined } : stored,
        ),
    });
    const { ledgers, told, attributes } = await scene(unreadable);
    const ledger = ledgers.open('l', { maxKeys: 0 });
    for (const key of ['broken', 'beyond', 'endless'])
      expect(ledger.reserve(key, { amount: 1, limit: 1e15 }), key).to.deep.equal({
        isGranted: false,
        committed: MOST_SUM,
      });
    expect([told, attributes]).to.deep.equal([
      ['what a key has spent cannot be read from the store of ledgers; it counts as more than any budget'],
      [{ ledger: 'l', key: 'broken' }],
    ]);
  });
});

describe('bookings that their store refuses', () => {
  it('hold up no other one, are named, and still count in memory', async () => {
    const { ledgers, table, pass, told, attributes } = await scene(new Table(true));
    const ledger = ledgers.open('l', { maxKeys: 0 });
    table.refuses.add('bad');
    for (let round = 0; round < 5; round += 1) {
      for (const key of ['a', 'b', 'bad', 'c', 'd']) ledger.commit(key, 3);
      await pass(1000);
    }
    expect(['a', 'b', 'c', 'd', 'bad'].map((key) => table.sums.get(`l/${key}`))).to.deep.equal([
      15,
      15,
      15,
      15,
      undefined,
    ]);
    expect(ledger.committed('bad')).to.equal(15);
    expect(told).to.deep.equal(['a row was refused by its store']);
    expect(attributes[0]).to.deep.include({ store: 'the store of ledgers', ledger: 'l', key: 'bad', micro_usd: 3 });
    table.sums.set('l/bad', 100); // another process has better luck
    await pass(1000);
    expect(ledger.committed('bad')).to.equal(115);
  });

  it('are tried again after an hour, and when the ledgers close', async () => {
    const { ledgers, table, pass, told } = await scene();
    const ledger = ledgers.open('l', { maxKeys: 0 });
    table.refuses.add('bad').add('worse');
    for (const key of ['bad', 'worse']) ledger.commit(key, 3);
    await pass(0);
    expect(told).to.deep.equal(Array.from({ length: 2 }, () => 'a row was refused by its store'));
    table.refuses.delete('bad');
    ledger.commit('bad', 4);
    await pass(HOUR_MS - 1);
    expect(table.sums.size).to.equal(0);
    await pass(1);
    ledger.commit('other', 1);
    await pass(100);
    expect([table.sums.get('l/bad'), table.sums.get('l/other'), table.sums.has('l/worse')]).to.deep.equal([
      7,
      1,
      false,
    ]);
    table.refuses.delete('worse');
    await ledgers.close();
    expect(table.sums.get('l/worse')).to.equal(3);
    expect(told).to.have.length(3);
  });

  it('are logged as lost where the store refuses them at the end too', async () => {
    const { ledgers, table, told, attributes } = await scene();
    table.refuses.add('bad');
    for (const key of ['bad', 'good']) ledgers.open('l', { maxKeys: 0 }).commit(key, 3);
    await ledgers.close();
    expect(table.sums.get('l/good')).to.equal(3);
    expect([told.at(-1), attributes.at(-1)]).to.deep.equal([
      'what was spent is lost: the store of ledgers refused it',
      { keys: 1 },
    ]);
  });

  it('are not those that meet another writer: they are repeated at once', async () => {
    const { ledgers, table, pass, told } = await scene();
    table.conflicts = 3;
    ledgers.open('l', { maxKeys: 0 }).commit('k', 5);
    await pass(0);
    expect([table.sums.get('l/k'), told]).to.deep.equal([5, []]);
    table.conflicts = 4;
    ledgers.open('l', { maxKeys: 0 }).commit('k', 5);
    await pass(100);
    expect([table.sums.get('l/k'), told]).to.deep.equal([5, ['the store of ledgers does not answer']]);
    await pass(1000);
    expect([table.sums.get('l/k'), told.at(-1)]).to.deep.equal([10, 'the store of ledgers answers again']);
  });
});

describe('bookings that wait', () => {
  it('stop at the largest sum, in whatever order they are joined', () => {
    const waiting = new WaitingBookings();
    const most = { ledger: 'l', key: 'k', amount: MOST_SUM, limit: undefined, isAnew: false };
    waiting.add(most);
    const taken = waiting.take();
    for (let time = 0; time < 2000; time += 1) waiting.add(most);
    waiting.giveBack(taken);
    waiting.setApart(most);
    waiting.add(most);
    expect(waiting.of('l', 'k')).to.deep.equal(most);
  });

  it('are the same sums, however they are taken, lost and given back', () => {
    const dice = new Dice(7);
    for (let round = 0; round < 200; round += 1) {
      const waiting = new WaitingBookings();
      const stored = new Map<string, number>();
      const expected = new Map<string, number>();
      const write = (): void => {
        const taken = waiting.take();
        const early = dice.below(2) === 0;
        if (early) step();
        const end = dice.below(5);
        if (end === 0) waiting.giveBack(taken);
        else if (end === 1) for (const refused of taken) waiting.setApart(refused);
        else
          for (const { key, amount, isAnew } of taken) stored.set(key, amount + (isAnew ? 0 : (stored.get(key) ?? 0)));
        if (!early) step();
      };
      const step = (): void => {
        const key = dice.pick(['a', 'b']);
        const isAnew = dice.below(4) === 0;
        const amount = isAnew ? 0 : dice.below(9);
        waiting.add({ ledger: 'l', key, amount, limit: undefined, isAnew });
        expected.set(key, isAnew ? 0 : (expected.get(key) ?? 0) + amount);
      };
      for (let time = 0; time < 12; time += 1) {
        write();
        if (dice.below(4) === 0) waiting.tryAgain();
      }
      waiting.tryAgain();
      for (const { key, amount, isAnew } of waiting.take())
        stored.set(key, amount + (isAnew ? 0 : (stored.get(key) ?? 0)));
      for (const [key, sum] of expected) expect(stored.get(key), `round ${round}`).to.equal(sum);
      expect([waiting.size, waiting.apart]).to.deep.equal([0, 0]);
    }
  });
});
