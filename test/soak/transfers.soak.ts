import { expect } from 'chai';
import { forSuite } from '../kit/index.ts';
import { transfers } from '../passthrough/support/transfers.ts';

const MIB = 1024 * 1024;
const MIBS = 500;
/** What a body of any length may add to the memory of the process. */
const MOST_MB = 64;

describe('very large bodies through a gateway process', function large() {
  this.timeout(300_000);
  const setup = forSuite(transfers);

  for (const way of ['upload', 'download'] as const) {
    it(`take no more memory than large ones: ${way} of ${MIBS} MiB`, async () => {
      const { growthOf, [way]: transfer } = setup();
      let bytes = 0;
      const growth = await growthOf(async () => {
        bytes = await transfer(MIBS);
      });
      expect(bytes).to.equal(MIBS * MIB);
      expect(growth, 'MB').to.be.below(MOST_MB);
      if (process.env['SOAK_VERBOSE']) process.stdout.write(`      MB of growth: ${growth.toFixed(0)}\n`);
    });
  }
});
