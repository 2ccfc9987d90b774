import { expect } from 'chai';
import { tapProblems } from './tap-rules.ts';

describe('hook taps', () => {
  const refused: readonly (readonly [path: string, source: string])[] = [
    ['builtins/a/b.ts', "hooks.assemble.tap('b', async () => {});"],
    ['builtins/a/b.ts', "pipeline.admit.tap({ name: 'b' }, (attempt) => refusal(attempt));"],
    ['builtins/a/b.ts', "pipeline.onError[surface].tapAsync('b', (exchange, done) => done());"],
    ['builtins/a/b.ts', "const { outgoing } = pipeline; outgoing.tap('b', async () => {});"],
    ['host/pipeline/run.ts', "hooks.finished.tap('run', () => {});"],
    ['host/http/body/json-body.ts', "hooks.outgoing.tapPromise('body', async (request) => request);"],
  ];
  for (const [path, source] of refused) {
    it(`refuses in ${path}: ${source}`, () => {
      expect(tapProblems(path, source)).to.have.lengthOf(1);
    });
  }

  it('allows tap on a hook that does not wait, and tapPromise on one that does', () => {
    expect(
      tapProblems(
        'builtins/a/b.ts',
        "hooks.mount.tap('b', mount); pipeline.route.tap('b', rank); hooks.open.tapPromise('b', open);",
      ),
    ).to.deep.equal([]);
  });
});
