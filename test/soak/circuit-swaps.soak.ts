import { seeded } from '../kit/index.ts';
import { Walk } from '../resilience/support/circuit-walk.ts';

const STEPS = 100_000;

describe('a circuit while the configuration changes under it', () => {
  it(`agrees with a plain model over ${STEPS} random steps`, async function swaps() {
    this.timeout(600_000);
    const walk = await Walk.open(seeded(11));
    for (let step = 0; step < STEPS; step += 1) await walk.step();
    await walk.finish();
  });
});
