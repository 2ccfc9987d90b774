import { expect } from 'chai';
import type { Refusal, Reservation } from 'gw/contract';
import type { Booking, LedgerRepository, StoredAccount } from '../../host/stores/ledger-repository.ts';
import { StoredLedgers } from '../../host/stores/stored-ledgers.ts';
import { WaitingBookings } from '../../host/stores/waiting-bookings.ts';
import { Dice, fakeClock, type FakeClock } from '../kit/index.ts';

/** A table in memory that may be away. Others book into it as well. */
class Table implements LedgerRepository {
  readonly isShared: boolean;
  readonly sums = new Map<string, number>();
  readonly written: (readonly Booking[])[] = [];
  readonly asked: (number | undefined)[] = [];
  isAway = false;

  constructor(isShared = false) {
    this.isShared = isShared;
  }

  async book(bookings: readonly Booking[]): Promise<readonly StoredAccount[]> {
    await Promise.resolve();
    if (this.isAway) throw new Error('away');
    this.written.push(bookings);
    for (const { ledger, key, amount, isAnew } of bookings) this.sums.set(`${ledger}/${key}`, amount + (isAnew ? 0 : this.sums.get(`${ledger}/${key}`) ?? 0));
    return this.#all().filter((stored) => bookings.some(({ ledger, key }) => ledger === stored.ledger && key === stored.key));
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
  /** Lets time pass, and what waits then. */
  readonly pass: (ms: number) => Promise<void>;
}

async function scene(table = new Table()): Promise<Scene> {
  const clock = fakeClock();
  const told: string[] = [];
  const note = (message: string): void => { told.push(message); };
  const ledgers = await StoredLedgers.load(table, { clock, backend: 'test', log: { debug: note, info: note, warn: note, error: note } });
  return {
    table, clock, ledgers, told,
    pass: async (ms) => {
      clock.advance(ms);
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => { setImmediate(resolve); });
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
      { ledger: 'l', key: 'k', amount: 100, limit: 1000, isAnew: false }, { ledger: 'l', key: 'other', amount: 1, limit: undefined, isAnew: false },
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
    for (const [key, sum] of [['l/low', 1], ['l/high', 50], ['l/middle', 9]] as const) table.sums.set(key, sum);
    const { ledgers, pass } = await scene(table);
    const ledger = ledgers.open('l', { maxKeys: 2 });
    expect([ledger.size, ledger.committed('high'), ledger.committed('middle')]).to.deep.equal([2, 50, 9]);
    ledger.commit('new', 70);
    ledger.commit('middle', 4); // `high` leaves for it
    await pass(0);
    expect([table.sums.get('l/low'), table.sums.get('l/middle'), table.sums.get('l/high'), table.sums.get('l/new')]).to.deep.equal([0, 4, 0, 70]);
  });
});

describe('bookings that wait', () => {
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
        if (dice.below(3) === 0) waiting.giveBack(taken);
        else for (const { key, amount, isAnew } of taken) stored.set(key, amount + (isAnew ? 0 : stored.get(key) ?? 0));
        if (!early) step();
      };
      const step = (): void => {
        const key = dice.pick(['a', 'b']);
        const isAnew = dice.below(4) === 0;
        const amount = isAnew ? 0 : dice.below(9);
        waiting.add({ ledger: 'l', key, amount, limit: undefined, isAnew });
        expected.set(key, isAnew ? 0 : (expected.get(key) ?? 0) + amount);
      };
      for (let time = 0; time < 12; time += 1) write();
      for (const { key, amount, isAnew } of waiting.take()) stored.set(key, amount + (isAnew ? 0 : stored.get(key) ?? 0));
      for (const [key, sum] of expected) expect(stored.get(key), `round ${round}`).to.equal(sum);
      expect(waiting.size).to.equal(0);
    }
  });
});
