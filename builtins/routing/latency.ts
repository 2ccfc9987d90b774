import { defineBuiltin } from '../../host/builtin.ts';
import type { Attempt } from '../../host/pipeline/attempts/attempt.ts';
import { RecentMedian } from './median.ts';

/** Samples that count, per target. */
const WINDOW = 100;

/**
 * Measures how long each target takes, for strategies that ask: successful provider calls only, since one that fails at
 * once would look fastest. Kept over configuration changes for targets that stay. See docs/reference/governance.md#measured-latency.
 */
export default defineBuiltin({
  name: 'latency',
  apply: ({ hooks }) =>
    hooks.assemble.tapPromise('latency', async ({ hooks: pipeline, targets, carryover }) => {
      const medians = new Map(
        targets.map(({ virtualKey }) => [
          virtualKey,
          carryover.lease(`latency ${virtualKey}`, () => new RecentMedian(WINDOW)),
        ]),
      );
      pipeline.median.tap('latency', (virtualKey) => medians.get(virtualKey)?.value);
      pipeline.settled.tap('latency', (attempt) => {
        if (hasAnswered(attempt) && attempt.upstreamMs !== undefined)
          medians.get(attempt.target.virtualKey)?.add(attempt.upstreamMs);
      });
    }),
});

/** An upstream's 400 is not a failure of the target, but not an answer either. An answer that a plugin withheld is an answer. */
function hasAnswered({ outcome, error }: Attempt): boolean {
  return outcome === 'success' && !error?.fault;
}
