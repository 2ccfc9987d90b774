type Close = () => Promise<void> | void;

/** A step that takes longer than this is not waited for, so that the rest is closed and the process can end. */
export const CLOSE_LIMIT_MS = 5000;

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

/** The same for what has no order: one that hangs does not keep the others from being closed. */
export async function closeAll(closes: Iterable<Close>): Promise<void> {
  const ends = await Promise.allSettled(Array.from(closes, async (close) => close()));
  throwAll(ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : [])));
}

function throwAll(errors: readonly unknown[]): void {
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} things could not be closed`);
  if (errors.length === 1) throw errors[0];
}
