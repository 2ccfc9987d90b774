import { expect } from 'chai';
import { MODULES } from '../../builtins/manifest.ts';
import { expectGivenBack, FAULT_NAMES, holdings } from '../kit/index.ts';
import { runLanes } from '../resilience/support/chaos.ts';
import { expectStorm } from '../resilience/support/storm.ts';

const REQUESTS = 1000;
const SEEDS = [1, 2, 3, 5, 8];
const modes = MODULES.filter(({ kind }) => kind === 'strategy').map(({ name }) => name);

describe('chaos at length', function suite() {
  this.timeout(300_000);

  for (const seed of SEEDS) {
    it(`of seed ${seed} is the same twice, every answer is one that the error map allows, and nothing is left behind`, async () => {
      await new Promise((resolve) => {
        setImmediate(resolve);
      }); // the runner arms its own timer once the test has begun
      const before = holdings();
      const first = await runLanes(modes, REQUESTS, seed);
      const again = await runLanes(modes, REQUESTS, seed);
      expect(again.digests).to.deep.equal(first.digests);
      expect([...first.faults]).to.have.members(FAULT_NAMES);
      await expectGivenBack(before);
    });
  }

  for (const mode of modes) {
    it(`of many requests at the same time is answered by the map, and nothing is left behind: ${mode}`, async () => {
      for (const seed of SEEDS) await expectStorm({ mode, requests: REQUESTS, clients: 32, seed });
    });
  }
});
