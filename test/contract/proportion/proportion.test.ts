import { expect } from 'chai';
import { cases, Dice, forSuite, some } from '../../kit/index.ts';
import { PROVIDERS } from '../hostile/wires.ts';
import { formWorks, jsonWorks, startGuarded } from './routes.ts';
import { answerWorks, problemsOf, requestWorks, type Work } from './work.ts';

/** Inputs of each kind for each provider; the soak doubles all of them. */
const SAMPLE = cases(3);
const SEED = 7;

function sample(works: readonly Work[], dice: Dice): Work[] {
  return Array.from({ length: SAMPLE }, () => dice.pick(works));
}

describe('twice the input makes no more than twice the work, or a little more', function suite() {
  this.timeout(60_000);

  for (const [at, module] of some([...PROVIDERS.entries()], { every: 3 })) {
    it(`in requests and answers of ${module.name}`, async () => {
      const dice = new Dice(SEED + at);
      const works = [requestWorks(module), answerWorks(module)];
      expect(
        works.map(({ length }) => length > 0),
        'requests and answers',
      ).to.deep.equal([true, true]);
      expect(await problemsOf(works.flatMap((all) => sample(all, dice)))).to.deep.equal([]);
    });
  }

  const host = forSuite(startGuarded);
  for (const [what, works] of [
    ['JSON', jsonWorks(host)],
    ['forms', formWorks(host)],
  ] as const) {
    it(`in ${what}, on every route`, async () => {
      const dice = new Dice(SEED);
      const bySurface = Map.groupBy(works, (work) => work.what.split(',')[0]);
      expect(await problemsOf([...bySurface.values()].flatMap((all) => sample(all, dice)))).to.deep.equal([]);
    });
  }
});
