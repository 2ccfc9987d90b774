import { expect } from 'chai';
import { cases } from '../kit/index.ts';
import { interpret } from './interpreter.ts';
import { seeded } from './support.ts';
import { createWorldHost, type Explained } from './world-host.ts';
import { makeWorld, MODES, type World } from './worlds.ts';

const WORLDS = cases(10_000, 20);

/** Completions are one message: what its rules and prices see is all of it. */
function asSeen(world: World): World {
  return world.asked.surface === 'completions'
    ? { ...world, asked: { ...world.asked, texts: [world.asked.texts.join('')] } }
    : world;
}

/** Targets that must get nothing, whatever fails. */
function excluded({ mode, unpriced, targets, variants, asked: { surface } }: World): readonly string[] {
  if (mode === 'loadbalance') return targets.filter(({ weight }) => weight === 0).map(({ key }) => key);
  if (mode === 'ab-test')
    return targets
      .map(({ key }) => key)
      .filter((key) => !variants.some(({ target_key, weight }) => target_key === key && weight > 0));
  if (mode !== 'cost-optimized' || unpriced !== 'skip') return [];
  const isChat = surface === 'chat' || surface === 'completions';
  return targets
    .filter(({ price }) => !price || (isChat && price.input === undefined) || surface === 'rerank')
    .map(({ key }) => key);
}

function checkShape(world: World, { explanation, problems }: Explained): void {
  const { order, dropped, refusal, figures } = {
    ...explanation,
    figures: explanation.order.map((each) => [each.target, each.figures] as const),
  };
  const tried = order.map(({ target }) => target);
  expect(problems, 'the world is valid').to.deep.equal([]);
  expect([...tried, ...dropped.map(({ target }) => target)].toSorted(), 'every target once').to.deep.equal(
    world.targets.map(({ key }) => key).toSorted(),
  );
  expect(
    dropped.every(({ reason }) => reason.length > 3),
    'every target that is left out has a reason',
  ).to.equal(true);
  expect(refusal?.code, 'a refusal exactly when nothing is tried').to.equal(
    tried.length === 0 ? 'model_not_found' : undefined,
  );
  for (const key of excluded(world)) expect(tried, 'no traffic for what is excluded').to.not.include(key);
  for (const [key, { weight, median_ms }] of figures) {
    const target = world.targets.find((each) => each.key === key);
    if (median_ms !== undefined) expect(median_ms).to.equal(target?.medianMs);
    if (weight !== undefined && world.mode === 'loadbalance') expect(weight).to.equal(target?.weight);
  }
}

describe('an explanation', function () {
  this.timeout(120_000);

  it(`is what the rules say, in ${WORLDS} configurations and states, and what a request does`, async () => {
    const host = await createWorldHost();
    const seen = new Map(MODES.map((mode) => [mode, 0]));
    for (let seed = 1; seed <= WORLDS; seed += 1) {
      const world = makeWorld(seed);
      const { explanation, route, abLabel, problems } = await host.explain(world);
      const order = explanation.order.map(({ target }) => target);
      const report = JSON.stringify({ world, explanation });
      try {
        const wanted = interpret(asSeen(world), seeded(seed));
        expect({ order, rule: explanation.rule, label: explanation.ab_label }).to.deep.equal(wanted);
        expect(
          route.filter(({ serves }) => serves).map(({ virtualKey }) => virtualKey),
          'the route of a request',
        ).to.deep.equal(order);
        if (order.length > 0) expect(abLabel ?? null).to.equal(explanation.ab_label);
        checkShape(world, { explanation, route, abLabel, problems });
      } catch (error) {
        throw new Error(`world ${seed}: ${(error as Error).message}\n${report}`, { cause: error });
      }
      seen.set(world.mode, (seen.get(world.mode) ?? 0) + (order.length > 1 ? 1 : 0));
    }
    for (const mode of ['fallback', 'loadbalance', 'least-latency', 'cost-optimized', 'ab-test'])
      expect(seen.get(mode), `worlds of ${mode} with a real choice`).to.be.above(cases(20));
  });

  it('counts nothing', async () => {
    const host = await createWorldHost();
    for (let seed = 1; seed <= 50; seed += 1) await host.explain(makeWorld(seed));
    expect(host.samples).to.deep.equal([]);
  });
});
