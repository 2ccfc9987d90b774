import { expect } from 'chai';
import { cases, seeded } from '../kit/index.ts';
import { Walk } from './support/circuit-walk.ts';

/** The soak run takes 100,000. */
const STEPS = cases(10_000);

describe('a circuit while the configuration changes under it', () => {
  it(`agrees with a plain model over ${STEPS} random steps, swaps of its block among them`, async function swaps() {
    this.timeout(60_000);
    const walk = await Walk.open(seeded(3));
    for (let step = 0; step < STEPS; step += 1) await walk.step();
    await walk.finish();
    expect(walk.swaps).to.be.at.least(STEPS * 0.05);
    expect(walk.lateReports, 'calls that outlived their configuration').to.be.at.least(STEPS * 0.05);
  });
});
