import { expect } from 'chai';
import { cases } from '../kit/index.ts';
import { createWorldHost, type Decided } from '../strategies/world-host.ts';
import { makeWorld, MODES } from '../strategies/worlds.ts';

const WORLDS = cases(10_000, 20);

/** Everything but the members that only declared instances have. */
function comparable({ explanation, ...decided }: Decided): object {
  const { order, ...explained } = explanation;
  return {
    ...decided,
    explanation: {
      ...explained,
      order: order.map(({ credentials: _credentials, kind: _kind, ...ordered }) => ordered),
    },
  };
}

describe('instances that are declared under the names of those of the environment', function () {
  this.timeout(240_000);

  it(`are chosen and tried as those are, in ${WORLDS} configurations and states`, async () => {
    const host = await createWorldHost();
    const choices = new Map(MODES.map((mode) => [mode, 0]));
    for (let seed = 1; seed <= WORLDS; seed += 1) {
      const world = makeWorld(seed);
      const before = await host.decide(world, 'top level');
      const after = await host.decide(world, 'declared instances');
      expect(comparable(after), `world ${seed}: ${JSON.stringify(world)}`).to.deep.equal(comparable(before));
      choices.set(world.mode, (choices.get(world.mode) ?? 0) + (before.attempts.length > 1 ? 1 : 0));
    }
    for (const mode of ['fallback', 'loadbalance', 'least-latency', 'cost-optimized', 'ab-test'])
      expect(choices.get(mode), `worlds of ${mode} in which one attempt followed another`).to.be.above(cases(20, 20));
  });
});
