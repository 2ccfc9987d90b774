import { expect } from 'chai';
import { StoreLink, StoreUnavailable } from '../../host/stores/store-link.ts';
import { WriteFault } from '../../host/stores/write-fault.ts';
import { inParts, RowWriter } from '../../host/stores/write-rows.ts';
import { cases, Dice, fakeClock } from '../kit/index.ts';
import { SILENT } from './backends.ts';

/** A store of numbers. It takes none of the bad ones; from some write on it is away, or it keeps what it is given and its answer is lost. */
class Numbers {
  readonly kept: number[] = [];
  readonly refused: number[] = [];
  readonly #bad: ReadonlySet<number>;
  readonly #known = new Set<number>();
  /** What the next writes meet; those after them meet nothing. */
  readonly faults: ('away' | 'lost')[] = [];
  writes = 0;

  constructor(bad: Iterable<number>) {
    this.#bad = new Set(bad);
  }

  readonly writer = new RowWriter<number>({
    write: async (rows, number) => {
      await Promise.resolve();
      this.writes += 1;
      const fault = this.faults.shift();
      if (fault === 'away') throw new StoreUnavailable('away');
      if (rows.some((row) => this.#bad.has(row))) throw new WriteFault('refused', new Error('bad'));
      if (!this.#known.has(number)) this.kept.push(...rows);
      this.#known.add(number);
      if (fault === 'lost') throw new StoreUnavailable('its answer is lost');
    },
    refused: (row) => this.refused.push(row),
    cut: (rows) => inParts(rows, 200),
  });
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

describe('rows that are written together', () => {
  it('are as many writes as they must be where the store takes them, and none where there are none', async () => {
    const store = new Numbers([]);
    expect(await store.writer.write(upTo(500))).to.equal(undefined);
    expect(await store.writer.write([])).to.equal(undefined);
    expect([store.writes, store.kept, store.writer.held]).to.deep.equal([3, upTo(500), []]);
  });

  it('are halved until the one stands alone that is refused', async () => {
    for (const bad of [0, 1, 99, 100, 199]) {
      const store = new Numbers([bad]);
      await store.writer.write(upTo(200));
      expect([store.refused, store.kept]).to.deep.equal([[bad], upTo(200).filter((row) => row !== bad)]);
      expect(store.writes).to.be.at.most(17); // two for each halving of 200
    }
  });

  it('are held unchanged where an answer is lost, and sent again before whatever comes later', async () => {
    const store = new Numbers([]);
    store.faults.push('lost', 'away');
    expect((await store.writer.write([1, 2]))?.error).to.be.instanceOf(StoreUnavailable);
    expect(store.writer.held).to.deep.equal([1, 2]);
    expect((await store.writer.write([3]))?.error).to.be.instanceOf(StoreUnavailable);
    expect([store.writer.held, store.kept]).to.deep.equal([
      [1, 2, 3],
      [1, 2],
    ]);
    expect(await store.writer.write([4])).to.equal(undefined);
    expect([store.writer.held, store.kept]).to.deep.equal([[], [1, 2, 3, 4]]);
  });

  for (let seed = 1; seed <= cases(100); seed += 1) {
    it(`are kept or refused, each once and in their order, whatever is lost: seed ${seed}`, async () => {
      const dice = new Dice(seed);
      const bad = upTo(300).filter(() => dice.below(8) === 0);
      const store = new Numbers(bad);
      let given = 0;
      for (let call = 0; call < 20; call += 1) {
        for (let fault = dice.below(3); fault > 0; fault -= 1) store.faults.push(dice.pick(['away', 'lost']));
        const rows = Array.from({ length: dice.below(16) }, (_, at) => given + at);
        given += rows.length;
        const unwritten = await store.writer.write(rows);
        expect(store.writer.holdsAny).to.equal(unwritten !== undefined);
      }
      store.faults.splice(0);
      await store.writer.write([]);
      expect([store.kept, store.refused]).to.deep.equal([
        upTo(given).filter((row) => !bad.includes(row)),
        upTo(given).filter((row) => bad.includes(row)),
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
