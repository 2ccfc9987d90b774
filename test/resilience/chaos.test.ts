import { expect } from 'chai';
import { MODULES } from '../../builtins/manifest.ts';
import { expectGivenBack, holdings, inSoak } from '../kit/index.ts';
import { MODES, runLanes } from './support/chaos.ts';
import { expectStorm } from './support/storm.ts';

const modes = MODULES.filter(({ kind }) => kind === 'strategy').map(({ name }) => name);

/** More of them, of several seeds, in the soak. */
const REQUESTS = 80;

describe('chaos', () => {
  it('knows every mode of this build', () => {
    expect(Object.keys(MODES)).to.include.members(modes);
  });

  it('of one seed is the same twice, every answer is one that the error map allows, and nothing is left behind', async function lanes() {
    this.timeout(60_000);
    await new Promise((resolve) => {
      setImmediate(resolve);
    }); // the runner arms its own timer once the test has begun
    const before = holdings();
    const first = await runLanes(modes, REQUESTS, 42);
    const again = await runLanes(modes, REQUESTS, 42);
    expect(again.digests).to.deep.equal(first.digests);
    expect(first.digests).to.have.length(REQUESTS);
    expect(first.faults.size).to.be.at.least(20);
    await expectGivenBack(before);
  });

  inSoak(
    'of many requests at the same time is answered by the map, and nothing is left behind',
    async function storm() {
      this.timeout(60_000);
      await expectStorm({ mode: 'fallback', requests: 100, clients: 24, seed: 7 });
    },
  );
});
