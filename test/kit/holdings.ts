import { deepStrictEqual } from 'node:assert';

/** What a process holds: open handles and timers that keep it alive, and listeners of `process`, each by its kind. */
export type Holdings = Readonly<Record<string, number>>;

/** What this process holds. Sockets and the like that do not keep it alive are not counted. */
export function holdings(): Holdings {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  for (const event of process.eventNames()) counts[`listener of ${String(event)}`] = process.listenerCount(event);
  return counts;
}

/** What is held now and was not held before; empty when everything was given back. */
export function kept(before: Holdings, now: Holdings, isCounted: (kind: string) => boolean = () => true): Holdings {
  return Object.fromEntries(
    Object.entries(now).flatMap(([kind, count]) => {
      const more = count - (before[kind] ?? 0);
      return more > 0 && isCounted(kind) ? [[kind, more]] : [];
    }),
  );
}

/** What is over takes a few turns of the event loop to be gone, and more on a busy machine; this is the most it gets. */
const PATIENCE_MS = 5000;

/** Waits until it is true, or for as long as waiting makes sense: what is expected is asserted afterwards. */
export async function eventually(isTrue: () => boolean | Promise<boolean>, withinMs = PATIENCE_MS): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await isTrue()) && performance.now() < end)
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
}

/** Waits until what is expected is so, and fails with what was not. */
export async function expectSoon(check: () => unknown): Promise<void> {
  let failure: unknown;
  await eventually(async () => {
    try {
      await check();
      failure = undefined;
    } catch (error) {
      failure = error;
    }
    return failure === undefined;
  });
  if (failure !== undefined) throw failure;
}

/** Fails when this process holds more than before. */
export async function expectGivenBack(before: Holdings): Promise<void> {
  let more: Holdings = {};
  await new Promise((resolve) => {
    setImmediate(resolve);
  }); // the runner arms its own timer once a test or hook has begun
  await eventually(() => Object.keys((more = kept(before, holdings()))).length === 0);
  deepStrictEqual(more, {}, `it stayed open: ${JSON.stringify(more)}`);
}
