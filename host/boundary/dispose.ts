import type { Clock } from '../common/clock.ts';
import type { ClosingTime } from '../common/close-all.ts';
import type { Log } from '../contract/index.ts';
import { faultAttributes, ModuleFault, type ModuleRef } from './module-fault.ts';
import { inTime, isThenable } from './thenable.ts';

export interface ClosingServices {
  readonly clock: Clock;
  readonly closing: ClosingTime;
  readonly log: Log;
}

/**
 * Lets a module close what it opened, within the time that there is; what closes at once closes at once. What fails or does not end is
 * logged with the module's name: it never throws.
 */
export function disposeModule(
  module: ModuleRef,
  dispose: (() => unknown) | undefined,
  { clock, closing, log }: ClosingServices,
): Promise<void> | undefined {
  const fail = (thrown: unknown): void =>
    log.error(`${module.kind} failed to close`, faultAttributes(new ModuleFault(module, 'dispose', thrown)));
  try {
    const pending = dispose?.();
    if (isThenable(pending))
      return inTime(pending, closing.stepMs, clock, `dispose of the ${module.kind} "${module.name}"`).then(
        () => {},
        fail,
      );
  } catch (thrown) {
    fail(thrown);
  }
  return undefined;
}
