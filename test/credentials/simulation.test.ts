import { expect } from 'chai';
import { cases, isSoak } from '../kit/index.ts';
import { simulate } from './pool-simulation.ts';

describe('requests over pools of credentials whose vendors fail', () => {
  it('use no benched credential beyond its tries, lose none that a healthy one could answer, and starve none', function () {
    this.timeout(isSoak() ? 600_000 : 60_000);
    for (let seed = 0; seed < cases(20, 20); seed += 1) {
      const { wasted, lost, starved, mostCalls } = simulate(seed, isSoak() ? 50_000 : 20_000);
      expect({ wasted, lost, starved }, `seed ${seed}`).to.deep.equal({ wasted: 0, lost: 0, starved: 0 });
      expect(mostCalls).to.be.at.most(5); // four calls and how the request ended
    }
  });
});
