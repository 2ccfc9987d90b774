import { defineBuiltin } from '../../host/builtin.ts';
import type { Attempt } from '../../host/pipeline/attempts/attempt.ts';
import { RecentMedian } from './median.ts';

/** Samples that count, per target; in groups of models, per upstream model of a target. */
const WINDOW = 100;
/** Upstream models of all targets that groups keep medians of: clients may invent names of a group with a star. */
const MAX_MODELS = 10_000;

/**
 * Measures how long each target takes, for strategies that ask: successful provider calls only, since one that fails at
 * once would look fastest. Kept over configuration changes for targets that stay. See docs/reference/governance.md#measured-latency.
 */
export default defineBuiltin({
  name: 'latency',
  apply: ({ hooks }) =>
    hooks.assemble.tapPromise('latency', async ({ hooks: pipeline, targets, groups, carryover }) => {
      const medians = new Map(
        targets.map(({ virtualKey }) => [
          virtualKey,
          carryover.lease(`latency ${virtualKey}`, () => new RecentMedian(WINDOW)),
        ]),
      );
      const ofModels = groups && carryover.lease('latency of models', () => new ModelMedians());
      pipeline.median.tap('latency', (virtualKey, upstreamModel) =>
        upstreamModel === undefined ? medians.get(virtualKey)?.value : ofModels?.value(virtualKey, upstreamModel),
      );
      pipeline.settled.tap('latency', (attempt) => {
        const { target, exchange, upstreamModel, upstreamMs } = attempt;
        if (!hasAnswered(attempt) || upstreamMs === undefined) return;
        if (ofModels && exchange.routing.group) ofModels.add(target.virtualKey, upstreamModel, upstreamMs);
        else medians.get(target.virtualKey)?.add(upstreamMs);
      });
    }),
});

/** Medians of upstream models. Those without a sample for the longest make room. */
class ModelMedians {
  /** In the order of their last samples. */
  readonly #medians = new Map<string, RecentMedian>();

  value(virtualKey: string, model: string): number | undefined {
    return this.#medians.get(`${virtualKey}@${model}`)?.value;
  }

  add(virtualKey: string, model: string, ms: number): void {
    const key = `${virtualKey}@${model}`; // names of targets have no `@`
    const median = this.#medians.get(key) ?? new RecentMedian(WINDOW);
    median.add(ms);
    this.#medians.delete(key);
    this.#medians.set(key, median);
    if (this.#medians.size <= MAX_MODELS) return;
    const [oldest] = this.#medians.keys();
    if (oldest !== undefined) this.#medians.delete(oldest);
  }
}

/** An upstream's 400 is not a failure of the target, but not an answer either. An answer that a plugin withheld is an answer. */
function hasAnswered({ outcome, error }: Attempt): boolean {
  return outcome === 'success' && !error?.fault;
}
