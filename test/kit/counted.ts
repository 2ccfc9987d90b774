/** What is done at once takes a few turns of the event loop on loopback connections; a timer of the gateway takes thousands. */
export const MOST_TURNS = 100;

/** Turns of the event loop until it settles: unlike time, they do not grow when the machine has other things to do. */
export async function turnsUntil(settled: Promise<unknown>): Promise<number> {
  const over = settled.then(
    () => true,
    () => true,
  );
  const turn = (): Promise<false> =>
    new Promise((resolve) => {
      setImmediate(resolve, false);
    });
  let turns = 1;
  while (!(await Promise.race([over, turn()]))) turns += 1;
  return turns;
}
