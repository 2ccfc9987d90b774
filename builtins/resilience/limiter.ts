import { GatewayError } from '../../host/contract/index.ts';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import type { Attempt } from '../../host/pipeline/attempt.ts';
import { type SlotLimits, Slots } from './slots.ts';

const DEFAULT_QUEUE = 1000;

interface Limited {
  readonly slots: Slots;
  readonly limits: SlotLimits;
}

/** Bounds the calls that a target serves at a time, streams to their last chunk. Targets without a `concurrency` block are not bounded. */
export default defineBuiltin({
  name: 'limiter',
  apply: ({ hooks }) => hooks.assemble.tapPromise('limiter', async ({ hooks: pipeline, targets, carryover }) => {
    const limited = new Map<string, Limited>();
    for (const { virtualKey, config: { concurrency } } of targets) {
      if (!concurrency?.max_concurrency) continue;
      const limits = { maxConcurrency: concurrency.max_concurrency, queueSize: concurrency.queue_size || DEFAULT_QUEUE };
      limited.set(virtualKey, { slots: carryover.lease(`limiter ${virtualKey}`, () => new Slots()), limits });
    }
    if (limited.size === 0) return;
    const holders = new WeakMap<Attempt, Slots>();

    pipeline.admit.tapPromise({ name: 'limiter', stage: ORDER.limiter }, async (attempt) => {
      const { slots, limits } = limited.get(attempt.target.virtualKey) ?? {};
      if (!slots || !limits) return undefined;
      if (!await slots.take(limits, attempt.cancellation)) {
        return new GatewayError('provider_saturated', `${attempt.target.virtualKey} serves ${limits.maxConcurrency} calls at a time, and ${limits.queueSize} wait`);
      }
      holders.set(attempt, slots);
      return undefined;
    });
    pipeline.settled.tapPromise('limiter', async (attempt) => {
      holders.get(attempt)?.giveBack();
      holders.delete(attempt);
    });
  }),
});
