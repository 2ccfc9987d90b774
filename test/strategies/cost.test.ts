import { STRATEGIES, decisionOver } from '../bench/strategies.ts';
import { expectProportion } from '../kit/index.ts';

const DECISIONS = 100;

describe('a routing decision', () => {
  for (const module of STRATEGIES) {
    it(`takes work in proportion to the targets, and their rules: ${module.name}`, () =>
      expectProportion(30, (targets) => {
        const { route } = decisionOver(module, targets);
        return () => {
          for (let at = 0; at < DECISIONS; at += 1) route();
        };
      }));
  }
});
