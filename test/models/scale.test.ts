import { expect } from 'chai';
import { buildModelIndex } from '../../host/generation/model-index.ts';
import type { Target } from '../../host/generation/generation.ts';

/** Only what the index looks at. */
const target = (name: string): Target => ({ virtualKey: name, weight: 1, provider: { module: { translators: { chat: {} } } } }) as unknown as Target;

describe('the model index', () => {
  it('is built for 5,000 models of 30 targets in under 50 ms, and answers at once', () => {
    const targets = Array.from({ length: 30 }, (_, place) => target(`t${place}`));
    const models = (name: string): string[] => Array.from({ length: 5000 / 30 }, (_, place) => `${name}/model-${place}`);
    const build = (): ReturnType<typeof buildModelIndex> => buildModelIndex(targets, ({ virtualKey }) => ({ declared: [], configured: [], discovered: [], catalog: [...models(virtualKey), 'shared'] }));
    build();
    const startedAt = performance.now();
    const index = build();
    expect(performance.now() - startedAt).to.be.lessThan(50);
    expect(index.routeTargets('t7/model-3', 'chat', false).filter(({ serves }) => serves).map(({ virtualKey }) => virtualKey)).to.deep.equal(['t7']);
    expect(index.routeTargets('shared', 'chat', false).every(({ serves }) => serves)).to.equal(true);
    expect(index.routeTargets('t7/model-3', 'chat', false)).to.equal(index.routeTargets('t7/model-3', 'chat', false));
  });
});
