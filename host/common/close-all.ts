import type { Clock } from './clock.ts';

type Close = () => Promise<void> | void;

/** A step that takes longer than this is not waited for, so that the rest is closed and the process can end. */
export const CLOSE_LIMIT_MS = 5000;

/** However little time is left, each step gets this much, in milliseconds. */
const LEAST_MS = 250;

/** How long closing what a module opened may take: half of what is left once the process has been asked to end, so that what is closed after it has time, too. */
export class ClosingTime {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #endsAt: number | undefined;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** The process is to end within so many milliseconds. Only the first call counts. */
  endWithin(ms: number): void {
    this.#endsAt ??= this.#clock.monotonic() + ms;
  }

  /** Milliseconds until the process is to end; no bound before that was asked. */
  get leftMs(): number {
    return this.#endsAt === undefined ? Infinity : Math.max(0, this.#endsAt - this.#clock.monotonic());
  }

  /** Whole milliseconds for the next step. */
  get stepMs(): number {
    return Math.max(LEAST_MS, Math.min(CLOSE_LIMIT_MS, Math.floor(this.leftMs / 2)));
  }
}

/** Takes every step, one after another, whatever fails. Throws what failed once all are done: one error, or all of them in one. */
export async function closeInTurn(steps: Iterable<Close>): Promise<void> {
  const errors: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      errors.push(error);
    }
  }
  throwAll(errors);
}

/** Closes what has no order: one that hangs does not keep the others from being closed. */
export async function closeAll(closes: Iterable<Close>): Promise<void> {
  const ends = await Promise.allSettled(Array.from(closes, async (close) => close()));
  throwAll(ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : [])));
}

function throwAll(errors: readonly unknown[]): void {
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} things could not be closed`);
  if (errors.length === 1) throw errors[0];
}
