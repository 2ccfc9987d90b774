import { GatewayError } from '../../host/contract/index.ts';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import { tapEventual } from '../../host/pipeline/eventual.ts';
import { type Attempt, AttemptNote } from '../../host/pipeline/attempts/attempt.ts';
import { SharedSlots } from './shared-slots.ts';
import { type SlotLimits, Slots, type TargetSlots } from './slots.ts';

const DEFAULT_QUEUE = 1000;

interface Counted {
  readonly slots: TargetSlots;
  readonly limits: SlotLimits;
}

/** Counts the calls of every target, streams to their last chunk, and bounds those of targets with a `concurrency` block. */
export default defineBuiltin({
  name: 'limiter',
  apply: ({ hooks }) =>
    hooks.assemble.tapPromise('limiter', async ({ hooks: pipeline, targets, carryover, services: { clock } }, host) => {
      const places = host?.places.isShared === true ? host.places : undefined;
      const counted = new Map<string, Counted>();
      for (const {
        virtualKey,
        config: { concurrency },
      } of targets) {
        const limits = {
          maxConcurrency: concurrency?.max_concurrency || Infinity,
          queueSize: concurrency?.queue_size || DEFAULT_QUEUE,
        };
        counted.set(virtualKey, {
          slots: carryover.lease(
            `limiter ${virtualKey}`,
            (): TargetSlots => (places ? new SharedSlots(places, clock, virtualKey) : new Slots()),
            (slots) => slots.close?.(),
          ),
          limits,
        });
      }
      const holders = new AttemptNote<TargetSlots>();
      const enter = (attempt: Attempt, { slots, limits }: Counted, isHeld: boolean): GatewayError | undefined => {
        if (!isHeld) return saturated(attempt, limits);
        holders.put(attempt, slots);
        return undefined;
      };

      pipeline.load.tap('limiter', (virtualKey) => counted.get(virtualKey)?.slots);
      tapEventual(pipeline.admit, { name: 'limiter', stage: ORDER.limiter }, (attempt) => {
        const target = counted.get(attempt.target.virtualKey);
        if (!target) return undefined;
        if (takesOver(attempt, target.slots)) return enter(attempt, target, true);
        const held = target.slots.take(target.limits, attempt.cancellation);
        return typeof held === 'boolean'
          ? enter(attempt, target, held)
          : held.then((isHeld) => enter(attempt, target, isHeld));
      });
      pipeline.settled.tap('limiter', (attempt) => {
        const held = holders.take(attempt);
        if (held && attempt.visit?.next) attempt.visit.kept = held;
        else held?.giveBack();
      });
    }),
});

/** Whether the attempt takes over the slot of the call before it: another credential of the target follows without queuing again. */
function takesOver({ visit }: Attempt, slots: TargetSlots): boolean {
  if (visit?.kept !== slots) return false;
  visit.kept = undefined;
  return true;
}

function saturated({ target: { virtualKey } }: Attempt, { maxConcurrency, queueSize }: SlotLimits): GatewayError {
  return new GatewayError(
    'provider_saturated',
    `${virtualKey} serves ${maxConcurrency} calls at a time, and ${queueSize} wait`,
  );
}
