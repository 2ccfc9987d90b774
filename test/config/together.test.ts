import { expect } from 'chai';
import { readReport, validateJson } from '../cli/commands.ts';

/** Paths and rules of a refusal, in the order in which they are reported. */
async function refusals(document: object): Promise<string[]> {
  return readReport((await validateJson(document)).stderr).problems.map(({ path, rule }) => `${path} ${rule}`);
}

const WEIGHTS = 'a weight of the wrong type';
const MISTYPED = [
  { virtual_key: 'echo', weight: 'x' },
  { virtual_key: 'openai', weight: -1 },
];
const SETTINGS = 'settings of a target that no strategy reads';
const SET = [
  { virtual_key: 'echo', weight: 2 },
  { virtual_key: 'openai', weight: -1, settings: { a: 1 } },
];
const CONDITION = { key: 'x', value: 'a', target_key: 'echo' };
const CONTENT = { type: 'x', value: 'a', target_key: 'nosuch' };

describe('what a strategy finds', () => {
  const cases: readonly (readonly [what: string, strategy: object, found: readonly string[]])[] = [
    ['a weight below zero', { mode: 'loadbalance' }, ['targets[1].weight CV14']],
    ['a word', { mode: 'cost-optimized', unpriced_strategy: 'x' }, ['strategy.unpriced_strategy CV16']],
    ['a condition', { mode: 'conditional', conditions: [CONDITION] }, ['strategy.conditions[0].key CV17']],
    [
      'a rule on content',
      { mode: 'content-based', content_conditions: [CONTENT] },
      ['strategy.content_conditions[0].type CV18', 'strategy.content_conditions[0].target_key CV18'],
    ],
    [
      'a variant',
      { mode: 'ab-test', ab_variants: [{ target_key: 'nosuch', weight: 1 }] },
      ['strategy.ab_variants[0].target_key CV18b'],
    ],
  ];
  for (const [what, strategy, found] of cases) {
    it(`is reported beside ${WEIGHTS}: ${what}`, async () => {
      expect(await refusals({ strategy, targets: MISTYPED })).to.deep.equal(['targets[0].weight DC02', ...found]);
    });

    it(`is reported beside ${SETTINGS}: ${what}`, async () => {
      expect(await refusals({ strategy, targets: SET })).to.have.members(['targets[1].settings CV39', ...found]);
    });
  }

  it('is not reported where it follows from what could not be read: a sum of weights, a target without a name', async () => {
    expect(
      await refusals({ strategy: { mode: 'loadbalance' }, targets: [{ virtual_key: 'echo', weight: 'x' }] }),
    ).to.deep.equal(['targets[0].weight DC02']);
    const strategy = { mode: 'conditional', conditions: [{ ...CONDITION, key: 'model', target_key: 'groq' }] };
    expect(await refusals({ strategy, targets: [{ virtual_key: 5 }] })).to.deep.equal(['targets[0].virtual_key DC02']);
  });
});

describe('an item of modules of the wrong type', () => {
  it('is not looked for as a package as well', async () => {
    expect(await refusals({ targets: [{ virtual_key: 'echo' }], modules: [5, './nosuch.ts', ['x']] })).to.deep.equal([
      'modules[0] DC02',
      'modules[2] DC02',
      'modules[1] MV10',
    ]);
  });
});
