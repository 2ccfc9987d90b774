import { expect } from 'chai';
import { StoreLink, StoreUnavailable } from '../../host/stores/store-link.ts';
import { WriteFault } from '../../host/stores/write-fault.ts';
import { writeRows } from '../../host/stores/write-rows.ts';
import { cases, Dice, fakeClock } from '../kit/index.ts';
import { SILENT } from './backends.ts';

/** A store of numbers. It takes none of the bad ones, and is away from the write of this number on. */
class Numbers {
  readonly kept: number[] = [];
  readonly refused: number[] = [];
  readonly #bad: ReadonlySet<number>;
  readonly #awayFrom: number;
  writes = 0;

  constructor(bad: Iterable<number>, awayFrom = Infinity) {
    this.#bad = new Set(bad);
    this.#awayFrom = awayFrom;
  }

  readonly write = async (rows: readonly number[]): Promise<void> => {
    await Promise.resolve();
    this.writes += 1;
    if (this.writes >= this.#awayFrom) throw new StoreUnavailable('away');
    if (rows.some((row) => this.#bad.has(row))) throw new WriteFault('refused', new Error('bad'));
    this.kept.push(...rows);
  };

  readonly refuse = (row: number): void => {
    this.refused.push(row);
  };
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

describe('rows that are written together', () => {
  it('are one write where the store takes them, and none where there are none', async () => {
    const store = new Numbers([]);
    expect(await writeRows(upTo(500), { write: store.write, refused: store.refuse })).to.equal(undefined);
    expect(await writeRows([], { write: store.write, refused: store.refuse })).to.equal(undefined);
    expect([store.writes, store.kept.length]).to.deep.equal([1, 500]);
  });

  it('are halved until the one stands alone that is refused', async () => {
    for (const bad of [0, 1, 249, 250, 499]) {
      const store = new Numbers([bad]);
      await writeRows(upTo(500), { write: store.write, refused: store.refuse });
      expect([store.refused, store.kept]).to.deep.equal([[bad], upTo(500).filter((row) => row !== bad)]);
      expect(store.writes).to.be.at.most(19); // two for each halving of 500
    }
  });

  for (let seed = 1; seed <= cases(100); seed += 1) {
    it(`are all kept or refused, once and in their order, or given back: seed ${seed}`, async () => {
      const dice = new Dice(seed);
      const rows = upTo(dice.below(60));
      const bad = rows.filter(() => dice.below(4) === 0);
      const store = new Numbers(bad, dice.below(2) === 0 ? Infinity : 1 + dice.below(20));
      const unwritten = await writeRows(rows, { write: store.write, refused: store.refuse });
      if (unwritten) expect(unwritten.error).to.be.instanceOf(StoreUnavailable);
      const done = rows.slice(0, rows.length - (unwritten?.rows.length ?? 0));
      expect([store.kept, store.refused, unwritten?.rows ?? []]).to.deep.equal([
        done.filter((row) => !bad.includes(row)),
        done.filter((row) => bad.includes(row)),
        rows.slice(done.length),
      ]);
    });
  }
});

describe('a call to a store', () => {
  function linked() {
    const told: string[] = [];
    const note = (message: string): void => {
      told.push(message);
    };
    return {
      told,
      link: new StoreLink('the store', {
        clock: fakeClock(),
        log: { ...SILENT, info: note, error: note },
        backend: () => 'test',
      }),
    };
  }

  it('that meets another writer is repeated at once, three times', async () => {
    for (const conflicts of [1, 3]) {
      const { link, told } = linked();
      let calls = 0;
      const answer = await link.ask(async () => {
        calls += 1;
        if (calls <= conflicts) throw new WriteFault('conflict', new Error('deadlock'));
        return 'done';
      });
      expect([answer, calls, told]).to.deep.equal(['done', conflicts + 1, []]);
    }
    const { link, told } = linked();
    let calls = 0;
    const failure = await link
      .ask(async () => {
        calls += 1;
        throw new WriteFault('conflict', new Error('deadlock'));
      })
      .catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(StoreUnavailable);
    expect([calls, told]).to.deep.equal([4, ['the store does not answer']]);
  });

  it('is not repeated once its caller has given up', async () => {
    const clock = fakeClock();
    const link = new StoreLink('the store', { clock, log: SILENT, backend: () => 'test' });
    const late = Promise.withResolvers<never>();
    let calls = 0;
    const answer = link
      .ask(() => {
        calls += 1;
        return late.promise;
      })
      .catch((error: unknown) => error);
    clock.advance(10_000);
    expect(await answer).to.be.instanceOf(StoreUnavailable);
    late.reject(new WriteFault('conflict', new Error('deadlock')));
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    expect(calls).to.equal(1);
  });

  it('that refuses a row is an answer, and not repeated', async () => {
    const { link, told } = linked();
    let calls = 0;
    const refuse = (): Promise<never> => {
      calls += 1;
      return Promise.reject(new WriteFault('refused', new Error('too long')));
    };
    expect(await link.ask(refuse).catch((error: unknown) => error)).to.be.instanceOf(WriteFault);
    expect([calls, link.isAway, link.hasAnswered, told]).to.deep.equal([1, false, true, []]);
    link.lose(new Error('gone'));
    await link.ask(refuse).catch(() => {});
    expect([link.isAway, told]).to.deep.equal([false, ['the store does not answer', 'the store answers again']]);
  });
});
