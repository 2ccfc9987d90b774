import { expect } from 'chai';
import type { Refusal, Reservation } from 'gw/contract';
import { MOST_BOOKING, MOST_SUM } from '../../host/common/bounded-sum.ts';
import { MemoryLedger } from '../../host/state/memory-ledger.ts';
import { cases, Dice } from '../kit/index.ts';
import { HOSTILE, Truth } from './hostile-amounts.ts';

/** The reservation of a ledger that answers at once. */
function granted(answer: Reservation | Refusal): { settle(amount: number): void; release(): void } {
  if (!answer.isGranted) throw new Error('it was refused');
  return {
    settle: (amount) => {
      void answer.settle(amount);
    },
    release: () => answer.release(),
  };
}

describe('a ledger in memory', () => {
  it('refuses once what is committed and reserved has reached the limit: the crossing call is granted', () => {
    const ledger = new MemoryLedger({ maxKeys: 10 });
    const order = { amount: 60, limit: 100 };
    const [one, two] = [granted(ledger.reserve('k', order)), granted(ledger.reserve('k', order))];
    expect(ledger.reserve('k', order)).to.deep.equal({ isGranted: false, committed: 0 });
    one.settle(40);
    expect(ledger.reserve('k', order)).to.deep.equal({ isGranted: false, committed: 40 });
    two.release();
    granted(ledger.reserve('k', order)).settle(60);
    expect(ledger.reserve('k', { amount: 0, limit: 100 })).to.deep.equal({ isGranted: false, committed: 100 });
    expect(ledger.reserve('k', { amount: 1, limit: undefined })).to.include({ isGranted: true });
  });

  it('counts what a request has cost so far toward the limit', () => {
    const ledger = new MemoryLedger({ maxKeys: 10 });
    ledger.commit('k', 50);
    expect(ledger.reserve('k', { amount: 0, limit: 100, running: 49 }).isGranted).to.equal(true);
    expect(ledger.reserve('k', { amount: 0, limit: 100, running: 50 }).isGranted).to.equal(false);
  });

  it('ends a reservation once: the first word counts', () => {
    const ledger = new MemoryLedger({ maxKeys: 10 });
    const one = granted(ledger.reserve('k', { amount: 5, limit: 10 }));
    one.release();
    one.settle(9);
    const two = granted(ledger.reserve('k', { amount: 5, limit: 10 }));
    two.settle(3);
    two.settle(3);
    two.release();
    expect([ledger.committed('k'), ledger.reserved]).to.deep.equal([3, 0]);
  });

  it('keeps whole micro-dollars, and loses no part of one', () => {
    const ledger = new MemoryLedger({ maxKeys: 10 });
    for (let call = 0; call < 1000; call += 1)
      granted(ledger.reserve('k', { amount: 0.3, limit: undefined })).settle(0.1);
    for (let call = 0; call < 10; call += 1) ledger.commit('k', 5.85);
    expect([ledger.committed('k'), ledger.reserved]).to.deep.equal([158, 0]);
    ledger.commit('k', 0.5);
    expect(ledger.committed('k')).to.equal(159);
  });

  it('lets the lowest spender leave at its bound, and never one that has calls in flight or has reached its limit', () => {
    const ledger = new MemoryLedger({ maxKeys: 3 });
    const spend = (key: string, amount: number, limit = 100): void =>
      granted(ledger.reserve(key, { amount, limit })).settle(amount);
    spend('low', 2);
    spend('high', 50);
    spend('spent', 1, 1);
    spend('new', 5);
    expect(['low', 'high', 'spent', 'new'].map((key) => ledger.committed(key))).to.deep.equal([0, 50, 1, 5]);
    const flying = granted(ledger.reserve('new', { amount: 1, limit: 100 }));
    spend('other', 70);
    expect(['high', 'spent', 'new', 'other'].map((key) => ledger.committed(key))).to.deep.equal([0, 1, 5, 70]);
    flying.settle(1);
    expect([ledger.committed('new'), ledger.size]).to.deep.equal([6, 3]);
  });

  it('keeps more than its bound before it forgets who has spent all', () => {
    const ledger = new MemoryLedger({ maxKeys: 2 });
    for (const key of ['a', 'b', 'c']) granted(ledger.reserve(key, { amount: 1, limit: 1 })).settle(1);
    for (const key of ['a', 'b', 'c'])
      expect(ledger.reserve(key, { amount: 1, limit: 1 }).isGranted, key).to.equal(false);
  });

  it('has no bound with 0', () => {
    const ledger = new MemoryLedger({ maxKeys: 0 });
    for (let key = 0; key < 1000; key += 1) ledger.commit(`k${key}`, 1);
    expect(ledger.size).to.equal(1000);
  });
});

describe('a ledger in memory, whatever amounts it is given', () => {
  it('books no more than 1,000 dollars at once, and nothing that is not an amount', () => {
    const heard: unknown[] = [];
    const booked: number[] = [];
    const ledger = new MemoryLedger(
      { maxKeys: 10 },
      {
        booked: (_key, amount) => {
          booked.push(amount);
        },
        forgot: () => {},
        now: () => 0,
        outOfBounds: (key, amount) => {
          heard.push([key, amount]);
        },
      },
    );
    for (const amount of [MOST_BOOKING, MOST_BOOKING + 1, 2 ** 53, Infinity, NaN, -1, -Infinity, 0, -0, 0.25])
      ledger.commit('k', amount);
    expect(ledger.committed('k')).to.equal(4 * MOST_BOOKING);
    expect(booked).to.deep.equal([MOST_BOOKING, MOST_BOOKING, MOST_BOOKING, MOST_BOOKING]);
    expect(heard).to.deep.equal(
      [MOST_BOOKING + 1, 2 ** 53, Infinity, NaN, -1, -Infinity].map((amount) => ['k', amount]),
    );
  });

  it('stops at its largest sum, also with one that is taken from a store', () => {
    const ledger = new MemoryLedger({ maxKeys: 10 });
    for (const sum of [MOST_SUM - 5, MOST_SUM, 2 ** 63, 1e300, Infinity]) {
      ledger.adopt('k', sum, 100);
      granted(ledger.reserve('k', { amount: 1, limit: undefined })).settle(7.5);
      expect(ledger.committed('k'), `${sum}`).to.equal(MOST_SUM);
      expect(ledger.reserve('k', { amount: 1, limit: 100 })).to.deep.equal({ isGranted: false, committed: MOST_SUM });
    }
    for (const sum of [NaN, -1, -Infinity]) {
      ledger.adopt('k', sum, 100);
      expect(ledger.committed('k'), `${sum}`).to.equal(0);
    }
  });

  it('lets no reservation take the limit away: neither while it is held nor after it', () => {
    for (const amount of HOSTILE) {
      const ledger = new MemoryLedger({ maxKeys: 10 });
      const order = { amount: 60, limit: 100 };
      const [first, hostile] = [
        granted(ledger.reserve('k', order)),
        granted(ledger.reserve('k', { amount, limit: undefined, running: amount })),
      ];
      granted(ledger.reserve('k', { amount: 60, limit: undefined }));
      expect(ledger.reserve('k', order).isGranted, `held: ${amount}`).to.equal(false);
      hostile.release();
      expect(ledger.reserve('k', order).isGranted, `released: ${amount}`).to.equal(false);
      first.settle(100);
      expect(ledger.reserve('k', { amount: 0, limit: 100, running: amount }).isGranted, `running: ${amount}`).to.equal(
        false,
      );
    }
  });

  it('reserves no more than can be booked, so that small reservations beside a large one are not lost', () => {
    const ledger = new MemoryLedger({ maxKeys: 10 });
    const large = granted(ledger.reserve('k', { amount: Infinity, limit: undefined }));
    expect(ledger.reserved).to.equal(MOST_BOOKING);
    granted(ledger.reserve('k', { amount: 0.25, limit: undefined }));
    large.release();
    expect(ledger.reserved).to.equal(0.25);
  });

  for (let seed = 1; seed <= cases(100); seed += 1) {
    it(`holds the truth, to the micro-dollar, and what is reserved is a number: seed ${seed}`, () => {
      const dice = new Dice(seed);
      const ledger = new MemoryLedger({ maxKeys: 0 });
      const truth = new Truth(dice);
      const held: { readonly key: string; readonly reservation: ReturnType<typeof granted> }[] = [];
      for (let step = 0; step < 500; step += 1) {
        const key = dice.pick(['a', 'b']);
        const choice = dice.below(4);
        if (choice === 0)
          held.push({
            key,
            reservation: granted(ledger.reserve(key, { amount: dice.pick([...HOSTILE, 5, 0.5]), limit: undefined })),
          });
        else if (choice === 1) ledger.commit(key, truth.spend(key));
        else if (held.length > 0) {
          const [{ key: whose, reservation }] = held.splice(dice.below(held.length), 1) as [(typeof held)[number]];
          if (choice === 2) reservation.settle(truth.spend(whose));
          else reservation.release();
        }
        expect(Number.isFinite(ledger.reserved)).to.equal(true);
        expect(ledger.reserved).to.be.at.least(0);
      }
      for (const { reservation } of held) reservation.release();
      expect(['a', 'b'].map((key) => BigInt(ledger.committed(key)))).to.deep.equal(
        ['a', 'b'].map((key) => truth.of(key)),
      );
      expect(ledger.reserved).to.equal(0);
    });
  }
});
