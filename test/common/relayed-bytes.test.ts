import { expect } from 'chai';
import { RelayedBytes } from '../../host/common/relayed-bytes.ts';

describe('bytes that go on as they arrive', () => {
  it('are given back every 8 MiB, and not for each piece', () => {
    let collections = 0;
    const relayed = new RelayedBytes(() => {
      collections += 1;
    });
    for (let pieces = 0; pieces < 16 * 25 - 1; pieces += 1) relayed.add(64 * 1024);
    expect(collections).to.equal(3);
  });

  it('are left to V8 where nothing collects them', () => {
    expect(() => new RelayedBytes(undefined).add(1024 ** 3)).not.to.throw();
  });
});
