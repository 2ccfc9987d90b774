import { expect } from 'chai';
import { SURFACE_NAMES } from '../../host/contract/index.ts';
import { order, problemsOf, query, rankOf, targets } from './support.ts';

const conditions = [
  { key: 'metadata', field: 'team', value: 'research', target_key: 'c' },
  { key: 'model', value: 'gpt-4o', target_key: 'b' },
  { key: 'model_prefix', value: 'gpt-', target_key: 'c' },
  { key: 'model_prefix', value: 'gpt-4', target_key: 'a' },
];
const rank = rankOf('conditional', { conditions });
const all = targets('a', 'b', 'c');
const messages = (block: object): string[] =>
  problemsOf('conditional', block).map(({ rule, path }) => `${rule} ${path}`);

describe('the strategy conditional', () => {
  it('puts the target of the first matching rule in front of the others', () => {
    expect(order(rank, all, query({ model: 'gpt-4o' }))).to.equal('b a c');
    expect(order(rank, all, query({ model: 'gpt-4' }))).to.equal('c a b');
    expect(order(rank, all, query({ model: 'gpt-4o', metadata: { team: 'research' } }))).to.equal('c a b');
  });

  it('leaves the declared order when no rule matches', () => {
    for (const model of ['GPT-4o', 'xgpt-4', 'o3']) expect(order(rank, all, query({ model }))).to.equal('a b c');
    expect(order(rank, all, query({ model: 'm', metadata: { team: 'Research', other: 'research' } }))).to.equal(
      'a b c',
    );
  });

  it('compares metadata by its text', () => {
    const numbers = rankOf('conditional', {
      conditions: [{ key: 'metadata', field: 'tier', value: '1.0', target_key: 'b' }],
    });
    expect(order(numbers, all, query({ metadata: { tier: '1.0' } }))).to.equal('b a c');
    expect(order(numbers, all, query({ metadata: { tier: '1' } }))).to.equal('a b c');
  });

  it('finds no metadata in what every object has', () => {
    const odd = rankOf('conditional', {
      conditions: [{ key: 'metadata', field: 'constructor', value: '', target_key: 'b' }],
    });
    expect(order(odd, all)).to.equal('a b c');
  });

  it('decides by the model on every surface, and names the target even when it does not serve the model', () => {
    for (const surface of SURFACE_NAMES)
      expect(order(rank, targets('a', '!b', 'c'), query({ surface, model: 'gpt-4o' })), surface).to.equal('b a c');
  });

  it('tells which rule decided', () => {
    const rules: string[] = [];
    for (const model of ['gpt-4o', 'gpt-3', 'o3']) rank(all, query({ model }), { rule: (path) => rules.push(path) });
    expect(rules).to.deep.equal(['conditions[1]', 'conditions[2]']);
  });

  it('refuses no rules, an unknown key, a missing or misplaced field, and a target that is not declared', () => {
    expect(messages({})).to.deep.equal(['CV17 strategy.conditions']);
    expect(messages({ conditions: [{ key: 'header', value: 'x', target_key: 'a' }] })).to.deep.equal([
      'CV17 strategy.conditions[0].key',
    ]);
    expect(messages({ conditions: [conditions[1]!, { key: 'metadata', value: 'x', target_key: 'a' }] })).to.deep.equal([
      'CV17 strategy.conditions[1].field',
    ]);
    expect(messages({ conditions: [{ key: 'model', field: 'x', value: 'x', target_key: 'a' }] })).to.deep.equal([
      'CV17 strategy.conditions[0].field',
    ]);
    expect(
      messages({
        conditions: [
          { key: 'model', value: 'x' },
          { key: 'model', value: 'x', target_key: 'z' },
        ],
      }),
    ).to.deep.equal(['CV17 strategy.conditions[0].target_key', 'CV17 strategy.conditions[1].target_key']);
  });
});
