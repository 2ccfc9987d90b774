import { expect } from 'chai';
import { buildModelIndex } from '../../host/generation/model-index.ts';
import type { Target } from '../../host/pipeline/target.ts';
import { expectProportion } from '../kit/index.ts';

/** Only what the index looks at. */
const target = (name: string): Target =>
  ({ virtualKey: name, weight: 1, provider: { module: { translators: { chat: {} } } } }) as unknown as Target;

describe('the model index', () => {
  it('is built with work in proportion to its models, and answers at once', async () => {
    const targets = Array.from({ length: 30 }, (_, place) => target(`t${place}`));
    const prepare = (count: number): (() => ReturnType<typeof buildModelIndex>) => {
      const models = new Map(
        targets.map(({ virtualKey }) => [
          virtualKey,
          Array.from({ length: count / 30 }, (_, place) => `${virtualKey}/model-${place}`),
        ]),
      );
      return () =>
        buildModelIndex(targets, ({ virtualKey }) => ({
          declared: [],
          configured: [],
          discovered: [],
          catalog: [...(models.get(virtualKey) ?? []), 'shared'],
        }));
    };
    await expectProportion(3000, prepare);
    const index = prepare(5000)();
    expect(
      index
        .routeTargets('t7/model-3', 'chat', false)
        .filter(({ serves }) => serves)
        .map(({ virtualKey }) => virtualKey),
    ).to.deep.equal(['t7']);
    expect(index.routeTargets('shared', 'chat', false).every(({ serves }) => serves)).to.equal(true);
    expect(index.routeTargets('t7/model-3', 'chat', false)).to.equal(index.routeTargets('t7/model-3', 'chat', false));
  });
});
