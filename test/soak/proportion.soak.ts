import { expect } from 'chai';
import { PROVIDERS } from '../contract/hostile/wires.ts';
import { formWorks, jsonWorks, startGuarded } from '../contract/proportion/routes.ts';
import { answerWorks, problemsOf, requestWorks, type Work } from '../contract/proportion/work.ts';
import { forSuite } from '../kit/index.ts';

/** Inputs that are doubled for one provider, of requests and of answers, spread evenly over all there are. */
const MOST = 400;

function spread(works: readonly Work[]): Work[] {
  const step = Math.ceil(works.length / MOST);
  return works.filter((_work, at) => at % step === 0);
}

describe('twice the input makes no more than twice the work, or a little more: all of it', function suite() {
  this.timeout(1_200_000);

  for (const module of PROVIDERS) {
    for (const [what, worksOf] of [
      ['requests', requestWorks],
      ['answers', answerWorks],
    ] as const) {
      it(`in ${what} of ${module.name}`, async () => {
        expect(await problemsOf(spread(worksOf(module)))).to.deep.equal([]);
      });
    }
  }

  const host = forSuite(startGuarded);
  it('in JSON, on every route', async () => {
    expect(await problemsOf(jsonWorks(host))).to.deep.equal([]);
  });
  it('in forms, on every route', async () => {
    expect(await problemsOf(formWorks(host))).to.deep.equal([]);
  });
});
