import { expect } from 'chai';
import { cases } from '../kit/index.ts';
import { createWorldHost, type Decided } from '../strategies/world-host.ts';
import { makeWorld, MODELS, MODES, type World } from '../strategies/worlds.ts';

const WORLDS = cases(10_000, 20);

/** A world whose targets all own its model: a group asks nothing of that. */
function owned(seed: number): World {
  const world = makeWorld(seed);
  const model = MODELS.includes(world.asked.model) ? world.asked.model : 'm';
  return {
    ...world,
    targets: world.targets.map((target) => ({ ...target, models: MODELS })),
    asked: { ...world.asked, model },
  };
}

/** What is to be equal: everything but what says that it was a group, and the reasons of a single target, which is looked at in groups alone. */
function comparable({ explanation, ...decided }: Decided): object {
  const { group: _, rule, order, ...explained } = explanation;
  const isSingle = order.length + explained.dropped.length < 2;
  return {
    ...decided,
    explanation: {
      ...explained,
      order: order.map(({ reason, ...ordered }) => ({ ...ordered, reason: isSingle ? '' : reason })),
      rule: rule?.replace('models[0].strategy.', '') ?? null,
    },
  };
}

describe('a strategy in a group of all targets', function () {
  this.timeout(240_000);

  it(`decides as at the top level, in ${WORLDS} configurations and states`, async () => {
    const host = await createWorldHost();
    const choices = new Map(MODES.map((mode) => [mode, 0]));
    for (let seed = 1; seed <= WORLDS; seed += 1) {
      const world = owned(seed);
      const [top, group] = [await host.decide(world, 'top level'), await host.decide(world, 'group')];
      expect(group.problems, 'the world is valid').to.deep.equal([]);
      expect(comparable(group), `world ${seed}: ${JSON.stringify(world)}`).to.deep.equal(comparable(top));
      choices.set(world.mode, (choices.get(world.mode) ?? 0) + (top.attempts.length > 1 ? 1 : 0));
    }
    for (const mode of ['fallback', 'loadbalance', 'least-latency', 'cost-optimized', 'ab-test'])
      expect(choices.get(mode), `worlds of ${mode} in which one attempt followed another`).to.be.above(cases(50, 20));
  });
});
