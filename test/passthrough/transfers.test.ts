import { expect } from 'chai';
import { forSuite } from '../kit/index.ts';
import { transfers } from './support/transfers.ts';

const MIB = 1024 * 1024;
/** What a body of any length may add to the memory of the process. */
const MOST_MB = 64;

/** 500 MB of each in the soak. */
describe('large bodies through a gateway process', () => {
  const setup = forSuite(transfers);

  it('of 100 MiB go up byte for byte, and are not kept', async () => {
    const { upload, growthOf } = setup();
    let bytes = 0;
    const growth = await growthOf(async () => {
      bytes = await upload(100);
    });
    expect(bytes).to.equal(100 * MIB);
    expect(growth, 'MB').to.be.below(MOST_MB);
  });

  it('of 100 MiB come down byte for byte, and are not kept', async () => {
    const { download, growthOf } = setup();
    let bytes = 0;
    const growth = await growthOf(async () => {
      bytes = await download(100);
    });
    expect(bytes).to.equal(100 * MIB);
    expect(growth, 'MB').to.be.below(MOST_MB);
  });
});
