import { expect } from 'chai';
import type { BoundGroup } from '../../host/generation/groups/bound-group.ts';
import { GroupIndex } from '../../host/generation/groups/model-groups.ts';
import { cases, Dice, expectProportion } from '../kit/index.ts';
import { startFleet, to } from './fleet.ts';

type Named = Pick<BoundGroup, 'name' | 'matched' | 'fallbacks'>;

const indexOf = (names: readonly string[], aliases = {}): GroupIndex<BoundGroup> =>
  new GroupIndex(
    names.map((name): Named => ({
      name,
      matched: name.endsWith('*') ? 'prefix' : 'exact',
      fallbacks: [],
    })) as BoundGroup[],
    { aliases },
  );

/** The rule as a reader of the page would apply it: look at every group, keep the best. */
function expected(names: readonly string[], asked: string): string | undefined {
  if (names.filter((name) => !name.endsWith('*')).includes(asked)) return asked;
  const fitting = names.filter(
    (name) => name.endsWith('*') && asked.startsWith(name.slice(0, -1)) && asked.length > name.length - 1,
  );
  return fitting.toSorted((a, b) => b.length - a.length)[0];
}

describe('the group of a name', () => {
  it(`is the exact one, else that with the longest beginning, whatever the order of the file (${cases(1000)} documents)`, () => {
    const dice = new Dice(4501);
    const parts = ['a', 'b', 'oss/', 'gpt-', '4', 'ü', '%', 'A', '*'];
    const text = (): string => Array.from({ length: 1 + dice.below(4) }, () => dice.pick(parts.slice(0, -1))).join('');
    for (let document = 0; document < cases(1000); document += 1) {
      const names = [
        ...new Set(Array.from({ length: 1 + dice.below(12) }, () => (dice.below(2) === 0 ? `${text()}*` : text()))),
        ...(dice.below(4) === 0 ? ['*'] : []),
      ];
      const [index, shuffled] = [indexOf(names), indexOf(names.toSorted(() => dice.below(3) - 1))];
      for (let question = 0; question < 20; question += 1) {
        const asked = dice.below(4) === 0 ? dice.pick(names).replace('*', dice.below(2) === 0 ? text() : '') : text();
        const want = expected(names, asked);
        expect(index.of(asked)?.name, `${asked} of ${names.join(' ')}`).to.equal(want);
        expect(shuffled.of(asked)?.name, 'in another order').to.equal(want);
      }
    }
  });

  it('is compared as a whole, from its first character, with one character or more for the star', () => {
    const index = indexOf(['gpt-4*']);
    for (const name of ['gpt-4', 'xgpt-4o', 'GPT-4o', 'gpt-', ''])
      expect(index.of(name)?.name, name).to.equal(undefined);
    for (const name of ['gpt-4o', 'gpt-4*', 'gpt-4 ', 'gpt-4/x']) expect(index.of(name)?.name, name).to.equal('gpt-4*');
    expect(indexOf(['*']).of('')).to.equal(undefined);
  });

  it('puts what stood for the star into the upstream model, character by character', async () => {
    const fleet = await startFleet(['a', 'b'], {
      models: [
        { name: 'oss/*', ...to('a/*') },
        { name: 'team/*', ...to('a/org/x-*') },
        { name: 'fixed/*', ...to('a/one') },
        { name: 'as-asked/*', ...to('a') },
        { name: '*', ...to('b/*') },
      ],
    });
    const tails = ['llama-3', 'meta/llama-3.1:8b', 'ü✓漢', '%2F..%00', 'a*b', '../x?y=1#z', '"quoted"', '𝔸'];
    for (const tail of tails) {
      expect((await fleet.ask(`oss/${tail}`)).calls).to.deep.equal([`a/${tail}`]);
      expect((await fleet.ask(`team/${tail}`)).calls).to.deep.equal([`a/org/x-${tail}`]);
      expect((await fleet.ask(`fixed/${tail}`)).calls).to.deep.equal(['a/one']);
      expect((await fleet.ask(`as-asked/${tail}`)).calls).to.deep.equal([`a/as-asked/${tail}`]);
      expect((await fleet.ask(tail)).calls).to.deep.equal([`b/${tail}`]);
    }
  });

  it('goes by model_map of the name asked for where a route names no model, also with a star', async () => {
    const fleet = await startFleet(
      ['a'],
      {
        models: [
          { name: 'smart', ...to('a') },
          { name: 'oss/*', ...to('a') },
        ],
      },
      { more: { a: { model_map: { smart: 'gpt-5', 'oss/big': 'llama-70b' } } } },
    );
    expect((await fleet.ask('smart')).calls).to.deep.equal(['a/gpt-5']);
    expect((await fleet.ask('oss/big')).calls).to.deep.equal(['a/llama-70b']);
    expect((await fleet.ask('oss/small')).calls).to.deep.equal(['a/oss/small']);
  });

  it('comes after aliases: one may name a group or a name of a star group, and wins over a star', async () => {
    const fleet = await startFleet(
      ['a', 'b'],
      {
        aliases: { quick: 'smart', llama: 'oss/llama', 'oss/own': 'plain' },
        models: [
          { name: 'smart', ...to('a/x') },
          { name: 'oss/*', ...to('a/*') },
        ],
      },
      { more: { b: { models: ['plain'] } } },
    );
    expect((await fleet.ask('quick')).calls).to.deep.equal(['a/x']);
    expect((await fleet.ask('llama')).calls).to.deep.equal(['a/llama']);
    expect((await fleet.ask('oss/own')).calls).to.deep.equal(['b/plain']);
  });

  it('takes a name that a target owns, and leaves the others to the rules of targets', async () => {
    const fleet = await startFleet(
      ['a', 'b'],
      { models: [{ name: 'm', ...to('b/y') }] },
      { more: { a: { models: ['m', 'n'] }, b: { models: [] } } },
    );
    expect((await fleet.ask('m')).calls).to.deep.equal(['b/y']);
    expect((await fleet.ask('n')).calls).to.deep.equal(['a/n']);
    expect(await fleet.ask('y'), 'the upstream model of a route is not a name by itself').to.include({ status: 404 });
  });

  it('is looked up in time that does not grow with the number of groups', async () => {
    await expectProportion(2000, (count) => {
      const names = Array.from(
        { length: count },
        (_, at) => `group-${String(at).padStart(6, '0')}${at % 2 ? '/*' : ''}`,
      );
      const index = indexOf(names);
      const asked = names.map((name) => name.replace('*', 'llama'));
      return () => asked.map((name) => index.of(name));
    });
  });
});
