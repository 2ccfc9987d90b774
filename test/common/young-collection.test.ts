import { expect } from 'chai';
import { runInNewContext } from 'node:vm';
import { eventually } from '../kit/index.ts';
import { youngCollection } from '../../host/common/young-collection.ts';

describe('a collection of young objects', () => {
  it('takes what died young, and gives the function that does it to no other code', async () => {
    const collect = youngCollection();
    const gone: number[] = [];
    const registry = new FinalizationRegistry<number>((made) => {
      gone.push(made);
    });
    for (let made = 0; made < 100; made += 1) registry.register({ made }, made);
    await eventually(() => {
      collect();
      return gone.length > 0;
    });
    expect(gone).to.have.length.above(0);
    expect([typeof (globalThis as { gc?: unknown }).gc, runInNewContext('typeof gc') as unknown]).to.deep.equal([
      'undefined',
      'undefined',
    ]);
  });
});
