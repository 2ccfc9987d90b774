import { GatewayError } from '../../host/contract/index.ts';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import { tapEventual } from '../../host/pipeline/eventual.ts';
import { type Attempt, AttemptNote } from '../../host/pipeline/attempt.ts';
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
    const holders = new AttemptNote<Slots>();

    tapEventual(pipeline.admit, { name: 'limiter', stage: ORDER.limiter }, (attempt) => {
      const bound = limited.get(attempt.target.virtualKey);
      if (!bound) return undefined;
      const { slots, limits } = bound;
      const enter = (isHeld: boolean): GatewayError | undefined => {
        if (!isHeld) return saturated(attempt, limits);
        holders.put(attempt, slots);
        return undefined;
      };
      const held = slots.take(limits, attempt.cancellation);
      return typeof held === 'boolean' ? enter(held) : held.then(enter);
    });
    pipeline.settled.tap('limiter', (attempt) => holders.take(attempt)?.giveBack());
  }),
});

function saturated({ target: { virtualKey } }: Attempt, { maxConcurrency, queueSize }: SlotLimits): GatewayError {
  return new GatewayError('provider_saturated', `${virtualKey} serves ${maxConcurrency} calls at a time, and ${queueSize} wait`);
}
