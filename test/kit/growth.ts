/** CPU milliseconds of one run, in this process. */
function cpuMs(run: () => unknown): number {
  const start = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

const RUNS = 3;
const FACTOR = 8;

/**
 * The power of the input's size with which CPU time grows: about 1 where work is in proportion, 2 where it is quadratic; the
 * collector may add a quarter. The least of several runs in turn counts, at `size` and at eight times that; `size` should be
 * large enough that a run takes a millisecond.
 */
export function growth<T>(size: number, make: (size: number) => T, run: (input: T) => unknown): number {
  const inputs = [make(size), make(FACTOR * size)] as const;
  const least = [Infinity, Infinity];
  for (let round = 0; round < RUNS; round += 1) {
    for (const [at, input] of inputs.entries()) least[at] = Math.min(least[at] ?? Infinity, cpuMs(() => run(input)));
  }
  const [small = 0, large = 0] = least;
  return Math.log(large / Math.max(small, 1)) / Math.log(FACTOR);
}
