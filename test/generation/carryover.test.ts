import { expect } from 'chai';
import { createCarryover } from '../../host/generation/carryover.ts';

describe('carryover', () => {
  it('gives generations that share a key the same object, made once', () => {
    const store = createCarryover();
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
    const store = createCarryover();
    const a = store.open();
    const value = a.lease('k', () => ({}));
    const b = store.open();
    b.lease('k', () => ({}));
    a.release();
    expect(b.lease('k', () => ({}))).to.equal(value);
    expect(store.size).to.equal(1);
  });

  it('disposes an object once, after its last holder', () => {
    const store = createCarryover();
    const disposed: unknown[] = [];
    const dispose = (value: object): void => { disposed.push(value); };
    const [a, b] = [store.open(), store.open()];
    const value = a.lease('k', () => ({}), dispose);
    a.lease('k', () => ({}), dispose); // twice by one generation is one hold
    b.lease('k', () => ({}), dispose);
    a.release();
    a.release();
    expect(disposed).to.deep.equal([]);
    b.release();
    expect(disposed).to.deep.equal([value]);
    expect(store.size).to.equal(0);
  });

  it('makes an object anew once nobody held it', () => {
    const store = createCarryover();
    const a = store.open();
    const value = a.lease('k', () => ({}));
    a.release();
    expect(store.open().lease('k', () => ({}))).not.to.equal(value);
  });

  it('keeps nothing of an object that could not be made', () => {
    const store = createCarryover();
    const a = store.open();
    expect(() => a.lease('k', () => { throw new Error('no'); })).to.throw('no');
    expect(store.size).to.equal(0);
    expect(a.lease('k', () => 'made')).to.equal('made');
    a.release();
    expect(store.size).to.equal(0);
  });
});
