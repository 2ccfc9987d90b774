import { expect } from 'chai';
import { atOnce, inTurns, type Steps } from 'gw/contract';

/** A clock that goes on by so many milliseconds with each look. */
function clockOf(stepMs: number): () => number {
  let at = 0;
  return () => (at += stepMs);
}

function* counting(steps: number, done: number[] = []): Steps<number> {
  for (let step = 0; step < steps; step += 1) {
    done.push(step);
    yield;
  }
  return steps;
}

describe('work in turns', () => {
  it('is done at once where it is short', () => {
    expect(inTurns(counting(20), { now: clockOf(1) })).to.equal(20);
    expect(atOnce(counting(1000))).to.equal(1000);
  });

  it('lets others run every 25 ms where it is long, and comes to the same', async () => {
    const done: number[] = [];
    const seen: number[] = [];
    let isOver = false;
    const watch = (): void => {
      seen.push(done.length);
      if (!isOver) setImmediate(watch);
    };
    setImmediate(watch);
    const result = inTurns(counting(100, done), { now: clockOf(1) });
    expect(result).to.be.an.instanceOf(Promise);
    expect(await result).to.equal(100);
    isOver = true;
    expect([seen.length >= 3, seen.every((count, at) => count - (seen[at - 1] ?? 0) <= 26)]).to.deep.equal([
      true,
      true,
    ]);
  });

  it('throws at once, or rejects later, with what the work throws', async () => {
    function* failing(after: number): Steps<never> {
      yield* counting(after);
      throw new Error('a bug');
    }
    expect(() => inTurns(failing(2), { now: clockOf(1) })).to.throw('a bug');
    const late = await Promise.resolve(inTurns(failing(60), { now: clockOf(1) })).catch((error: unknown) => error);
    expect(late).to.have.property('message', 'a bug');
  });

  it('is given up once it is not needed any more, and cleans up', async () => {
    const done: number[] = [];
    let isClosed = false;
    function* guarded(): Steps<number> {
      try {
        return yield* counting(1000, done);
      } finally {
        isClosed = true;
      }
    }
    const result = await inTurns(guarded(), { now: clockOf(1), isOver: () => true });
    expect([result, isClosed, done.length < 50]).to.deep.equal([undefined, true, true]);
  });
});
