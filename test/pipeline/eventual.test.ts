import { expect } from 'chai';
import { AsyncSeriesBailHook } from 'tapable';
import { callEventual, tapEventual, throwRefusal } from '../../host/pipeline/eventual.ts';

const createHook = (): AsyncSeriesBailHook<[string], string | undefined> => new AsyncSeriesBailHook(['value']);
const later = <T>(result: T): Promise<T> =>
  new Promise((resolve) => {
    setImmediate(resolve, result);
  });

describe('eventual hooks', () => {
  it('have their result at once while no handler waits', () => {
    const hook = createHook();
    const seen: string[] = [];
    tapEventual(hook, 'a', (value) => void seen.push(`a ${value}`));
    tapEventual(hook, 'b', (value) => `b says ${value}`);
    tapEventual(hook, 'c', () => void seen.push('c'));
    expect(callEventual(hook, 'x')).to.equal('b says x');
    expect(seen).to.deep.equal(['a x']);
  });

  it('promise it as soon as one waits, and ask the others afterwards', async () => {
    const hook = createHook();
    const seen: string[] = [];
    tapEventual(hook, 'a', async () => {
      await later(undefined);
      seen.push('a');
      return undefined;
    });
    tapEventual(hook, 'b', () => void seen.push('b'));
    hook.tapPromise('c', async () => later('c')); // the plain way works beside it
    const result = callEventual(hook, 'x');
    expect(result).to.be.instanceOf(Promise);
    expect(await result).to.equal('c');
    expect(seen).to.deep.equal(['a', 'b']);
  });

  it('keep the order of stages', () => {
    const hook = createHook();
    tapEventual(hook, { name: 'second', stage: 20 }, () => 'second');
    tapEventual(hook, { name: 'first', stage: 10 }, () => 'first');
    expect(callEventual(hook, 'x')).to.equal('first');
  });

  it('throw what a tap throws, and reject with what it rejects with', async () => {
    const [throwing, rejecting, late] = [createHook(), createHook(), createHook()];
    tapEventual(throwing, 'a', () => {
      throw new Error('at once');
    });
    tapEventual(rejecting, 'a', async () => {
      throw new Error('later');
    });
    tapEventual(late, 'a', async () => later(undefined));
    tapEventual(late, 'b', () => {
      throw new Error('after a wait');
    });
    expect(() => callEventual(throwing, 'x')).to.throw('at once');
    for (const [hook, message] of [
      [rejecting, 'later'],
      [late, 'after a wait'],
    ] as const) {
      const error = await (callEventual(hook, 'x') as Promise<unknown>).then(
        () => undefined,
        (cause: Error) => cause,
      );
      expect(error?.message).to.equal(message);
    }
  });

  it('take whatever is thrown or rejected with for a failure, and never for leave to go on', async () => {
    for (const value of [undefined, null, false, 0, '']) {
      for (const run of [
        () => {
          throw value;
        },
        () => Promise.reject(value),
      ]) {
        // oxlint-disable-line typescript/only-throw-error, typescript/prefer-promise-reject-errors -- what taps may do
        const hook = createHook();
        const seen: string[] = [];
        tapEventual(hook, 'a', run);
        tapEventual(hook, 'b', () => void seen.push('b'));
        const failed = await Promise.try(callEventual, hook, 'x').then(
          () => false,
          (error: unknown) => error instanceof Error,
        );
        expect([failed, seen], String(value)).to.deep.equal([true, []]);
      }
    }
  });

  it('know one way to go on: what is neither undefined nor a refusal is a failure, at once and later', async () => {
    for (const value of [null, false, 0, '']) {
      for (const result of [value, later(value)]) {
        const hook = createHook();
        const seen: string[] = [];
        tapEventual(hook, 'a', () => result as never);
        tapEventual(hook, 'b', () => void seen.push('b'));
        const failed = await Promise.try(() => throwRefusal(callEventual(hook, 'x') as never)).then(
          () => false,
          (error: unknown) => error instanceof Error,
        );
        expect([failed, seen], JSON.stringify(value)).to.deep.equal([true, []]);
      }
    }
    await throwRefusal(callEventual(createHook(), 'x') as never);
  });

  it('answer every one of many calls at a time with its own result', async () => {
    const hook = createHook();
    tapEventual(hook, 'a', (value) => (value === 'wait' ? later('waited') : `now ${value}`));
    const results = ['1', 'wait', '2'].map(async (value) => callEventual(hook, value));
    expect(await Promise.all(results)).to.deep.equal(['now 1', 'waited', 'now 2']);
  });
});
