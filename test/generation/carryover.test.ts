import { expect } from 'chai';
import { CarryoverStore } from '../../host/generation/carryover.ts';

describe('carryover', () => {
  it('gives generations that share a key the same object, made once', () => {
    const store = new CarryoverStore();
    const [a, b] = [store.open(), store.open()];
    let made = 0;
    const create = (): { n: number } => ({ n: (made += 1) });
    const first = a.lease('windows', create);
    expect(b.lease('windows', create)).to.equal(first);
    expect(a.lease('windows', create)).to.equal(first);
    expect(b.lease('slots', create)).not.to.equal(first);
    expect([made, store.size]).to.deep.equal([2, 2]);
  });

  it('keeps an object from one generation to the next', () => {
    const store = new CarryoverStore();
    const a = store.open();
    const value = a.lease('k', () => ({}));
    const b = store.open();
    b.lease('k', () => ({}));
    void a.release();
    expect(b.lease('k', () => ({}))).to.equal(value);
    expect(store.size).to.equal(1);
  });

  it('disposes an object once, after its last holder', () => {
    const store = new CarryoverStore();
    const disposed: unknown[] = [];
    const dispose = (value: object): void => {
      disposed.push(value);
    };
    const [a, b] = [store.open(), store.open()];
    const value = a.lease('k', () => ({}), dispose);
    a.lease('k', () => ({}), dispose); // twice by one generation is one hold
    b.lease('k', () => ({}), dispose);
    void a.release();
    void a.release();
    expect(disposed).to.deep.equal([]);
    void b.release();
    expect(disposed).to.deep.equal([value]);
    expect(store.size).to.equal(0);
  });

  it('disposes all that can be disposed, whatever fails, and tells every failure', async () => {
    const store = new CarryoverStore();
    const view = store.open();
    const disposed: string[] = [];
    for (const key of ['one', 'two', 'three', 'four', 'five']) {
      view.lease(
        key,
        () => key,
        (value) => {
          disposed.push(value);
          if (value === 'two') throw new Error('two');
          return value === 'four' ? Promise.reject(new Error('four')) : undefined;
        },
      );
    }
    const error = await view.release().then(
      () => undefined,
      (cause: unknown) => cause as AggregateError,
    );
    expect(error?.errors.map(({ message }: Error) => message)).to.deep.equal(['two', 'four']);
    expect(disposed).to.deep.equal(['one', 'two', 'three', 'four', 'five']);
    expect(store.size).to.equal(0);
    await view.release();
    expect(disposed).to.have.length(5);
  });

  it('waits for what takes its time to be disposed', async () => {
    const store = new CarryoverStore();
    const view = store.open();
    const gate = Promise.withResolvers<void>();
    view.lease(
      'slow',
      () => ({}),
      () => gate.promise,
    );
    let isReleased = false;
    const releasing = view.release().then(() => {
      isReleased = true;
    });
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    expect([isReleased, store.size]).to.deep.equal([false, 0]);
    gate.resolve();
    await releasing;
  });

  it('makes an object anew once its last lease was given back', () => {
    const store = new CarryoverStore();
    const a = store.open();
    const value = a.lease('k', () => ({}));
    void a.release();
    expect(store.open().lease('k', () => ({}))).not.to.equal(value);
  });

  it('keeps nothing of an object that could not be made', () => {
    const store = new CarryoverStore();
    const a = store.open();
    expect(() =>
      a.lease('k', () => {
        throw new Error('no');
      }),
    ).to.throw('no');
    expect(store.size).to.equal(0);
    expect(a.lease('k', () => 'made')).to.equal('made');
    void a.release();
    expect(store.size).to.equal(0);
  });
});
