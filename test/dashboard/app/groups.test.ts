import { expect } from 'chai';
import { chainOf, groupFor } from '../../../builtins/dashboard/app/src/pages/routing/groups.ts';
import { GroupIndex } from '../../../host/generation/groups/model-groups.ts';
import type { ModelGroup } from '../../../host/pipeline/model-group.ts';
import { cases, Dice } from '../../kit/index.ts';

const NAMES = ['a', 'ab', 'abc', 'a*', 'ab*', '*', 'b/c', 'b/*', 'none', 'alias', 'other'];

interface Written {
  readonly name: string;
  readonly fallbacks: readonly string[];
}

/** As the gateway makes it of the document. */
const indexOf = (models: readonly Written[], aliases: Readonly<Record<string, string>>) =>
  new GroupIndex(
    models.map(
      ({ name, fallbacks }) =>
        ({ name, fallbacks, matched: name.endsWith('*') ? 'prefix' : 'exact' }) as unknown as ModelGroup,
    ),
    { aliases },
  );

describe('groups on the page of routing', () => {
  it('take names, and are followed by fallbacks, as the gateway does it', () => {
    const dice = new Dice(7);
    for (let round = 0; round < cases(2000); round += 1) {
      const names = NAMES.filter(() => dice.below(10) < 6);
      const asked = NAMES.filter((name) => !name.includes('*'));
      const models = names.map((name) => ({
        name,
        fallbacks: asked.filter((each) => each !== name && dice.below(10) < 3),
      }));
      const aliases = { alias: 'a', other: 'b/c' };
      const index = indexOf(models, aliases);
      for (const name of asked) expect(groupFor(name, models)?.name, name).to.equal(index.of(name)?.name);
      for (const [at, group] of index.list.entries())
        if (group.matched === 'exact')
          expect(
            chainOf({ models, aliases }, models[at]!).map((link) => [link.alias ?? link.name, link.group]),
            JSON.stringify([group, models]),
          ).to.deep.equal(index.behind(group.name, group).map((behind) => [behind.name, behind.group?.name]));
    }
  });
});
