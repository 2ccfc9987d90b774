import { expect } from 'chai';
import { runInNewContext } from 'node:vm';
import { youngCollection } from '../../host/common/young-collection.ts';

describe('a collection of young objects', () => {
  it('takes what died young, and leaves the function that does it to nobody else', async () => {
    const collect = youngCollection();
    let gone = 0;
    const registry = new FinalizationRegistry(() => { gone += 1; });
    for (let made = 0; made < 100; made += 1) registry.register({ made }, undefined);
    for (let tries = 0; tries < 50 && gone === 0; tries += 1) {
      collect();
      await new Promise((resolve) => { setImmediate(resolve); });
    }
    expect(gone).to.be.above(0);
    expect([typeof (globalThis as { gc?: unknown }).gc, runInNewContext('typeof gc') as unknown]).to.deep.equal(['undefined', 'undefined']);
  });
});
