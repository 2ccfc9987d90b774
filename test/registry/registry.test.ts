import { expect } from 'chai';
import Joi from 'joi';
import { defineStrategy, type StrategyModule } from 'gw/contract';
import { createHostHooks } from '../../host/host-hooks.ts';
import { createRegistry, type Registry, type RegisteredModule } from '../../host/registry/registry.ts';

function strategy(name: string): StrategyModule {
  return defineStrategy({ name, summary: 's', settings: Joi.object({}), create: () => (targets) => targets });
}

function registry(): { registry: Registry; told: RegisteredModule[] } {
  const hooks = createHostHooks();
  const told: RegisteredModule[] = [];
  hooks.registered.tap('test', (registered) => {
    told.push(registered);
  });
  hooks.checkModule.tap('MV77', ({ value, report }) => {
    if (value['isWrong'] === true) report('MV77', 'it is wrong', 'make it right');
  });
  return { registry: createRegistry(hooks), told };
}

describe('the module registry', () => {
  it('takes a module, knows where it came from and tells who listens', () => {
    const { registry: known, told } = registry();
    const module = strategy('one');
    expect(known.add({ value: module, kind: 'strategy', origin: 'shipped' })).to.deep.equal([]);
    expect(known.strategies.get('one')).to.equal(module);
    expect(known.originOf('strategy', 'one')).to.equal('shipped');
    expect(known.originOf('plugin', 'one')).to.equal(undefined);
    expect(told).to.deep.equal([{ module, origin: 'shipped' }]);
  });

  it('runs every rule over a module and takes none that has a problem', () => {
    const { registry: known, told } = registry();
    const problems = known.add({ value: { ...strategy('one'), isWrong: true }, kind: 'strategy', origin: 'a.ts' });
    expect(problems).to.deep.equal([{ path: 'a.ts', rule: 'MV77', message: 'it is wrong', fix: 'make it right' }]);
    expect(known.strategies.size + told.length).to.equal(0);
  });

  it('refuses what is not a module at all', () => {
    const { registry: known } = registry();
    for (const value of [undefined, null, 1, 'text', () => {}]) {
      expect(known.add({ value, kind: 'plugin', origin: 'a.ts' }).map(({ rule, fix }) => [rule, fix])).to.deep.equal([
        ['MV01', 'export default definePlugin({ … })'],
      ]);
    }
  });

  it('keeps the first of two modules with one name and names both origins', () => {
    const { registry: known } = registry();
    const first = strategy('one');
    known.add({ value: first, kind: 'strategy', origin: '/first/one.ts' });
    const [problem] = known.add({ value: strategy('one'), kind: 'strategy', origin: '/second/one.ts' });
    expect(problem).to.include({ rule: 'MV09', path: '/second/one.ts' });
    expect(problem?.message).to.include('/first/one.ts');
    expect(known.strategies.get('one')).to.equal(first);
  });

  it('lets nothing replace a shipped module', () => {
    const { registry: known } = registry();
    known.add({ value: strategy('one'), kind: 'strategy', origin: 'shipped' });
    const [problem] = known.add({ value: strategy('one'), kind: 'strategy', origin: '/own/one.ts' });
    expect(problem?.message).to.include('shipped');
    expect(problem?.fix).to.include('shipped modules cannot be replaced');
  });

  it('reports a name that is taken beside what else is wrong with the module, unless the name itself is wrong', () => {
    const { registry: known } = registry();
    known.add({ value: strategy('one'), kind: 'strategy', origin: 'shipped' });
    const wrong = { ...strategy('one'), isWrong: true };
    expect(
      known.add({ value: wrong, kind: 'strategy', expectedName: 'one', origin: '/own/one.ts' }).map(({ rule }) => rule),
    ).to.deep.equal(['MV77', 'MV09']);
    expect(
      known.add({ value: wrong, kind: 'strategy', origin: '/own/package.ts' }).map(({ rule }) => rule),
    ).to.deep.equal(['MV77', 'MV09']);
    expect(
      known.add({ value: wrong, kind: 'strategy', expectedName: 'two', origin: '/own/two.ts' }).map(({ rule }) => rule),
    ).to.deep.equal(['MV77']);
    expect(
      known
        .add({ value: wrong, kind: 'plugin', expectedName: 'one', origin: '/own/plugins/one.ts' })
        .map(({ rule }) => rule),
    ).to.deep.equal(['MV77']);
  });

  it('takes nothing once it is sealed', () => {
    const { registry: known } = registry();
    known.seal();
    expect(() => known.add({ value: strategy('one'), kind: 'strategy', origin: 'late.ts' })).to.throw(
      'late.ts comes too late',
    );
  });
});
