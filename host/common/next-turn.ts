import type { Clock } from './clock.ts';

/** Milliseconds of work after which others are served. */
const SHARE_MS = 5;

/** Resolves once others have been served. */
export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/** Resolves once others have been served also where this turn is that of an arrival: what is put off there once still runs before the next arrival is looked at. */
export async function nextRound(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

/** Asked between two steps of long work: a promise where others should be served first. */
export function turnTaker({ monotonic }: Pick<Clock, 'monotonic'>): () => Promise<void> | undefined {
  let since = monotonic();
  const served = (): void => {
    since = monotonic();
  };
  return () => (monotonic() - since < SHARE_MS ? undefined : nextTurn().then(served));
}
