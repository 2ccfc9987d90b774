/** What is done at once takes a few turns of the event loop on loopback connections; a timer of the gateway takes thousands. */
export const MOST_TURNS = 100;

/** Turns of the event loop until it settles: unlike time, they do not grow when the machine has other things to do. */
export async function turnsUntil(settled: Promise<unknown>): Promise<number> {
  const over = settled.then(() => true, () => true);
  const turn = (): Promise<false> => new Promise((resolve) => { setImmediate(resolve, false); });
  let turns = 1;
  while (!await Promise.race([over, turn()])) turns += 1;
  return turns;
}

const ROUNDS = 5;
const TRIES = 4;
const FACTOR = 4;
/** Work in proportion takes 4 times as long for 4 times the input, quadratic work 16 times. */
const MOST = 9;
/** Below this, what the small input costs is the measuring itself. */
const LEAST_MS = 0.3;

/**
 * How much more work 4 times the input makes, at most 9 times for work in proportion. `prepare` makes the work for a size;
 * what it does is not measured. Counts the CPU time of this process, the least of several rounds, so that neither other
 * programs nor a collection of garbage in between counts; the size grows until the work stands out from the measuring.
 */
export async function expectProportional(size: number, prepare: (size: number) => () => unknown): Promise<void> {
  let told = '';
  for (let tried = 0, small = size; tried < TRIES; tried += 1) {
    const [less, more] = [prepare(small), prepare(small * FACTOR)];
    let [lessMs, moreMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let round = 0; round < ROUNDS; round += 1) {
      lessMs = Math.min(lessMs, await cpuMs(less));
      moreMs = Math.min(moreMs, await cpuMs(more));
    }
    told = `${lessMs.toFixed(2)} ms of CPU for ${small}, ${moreMs.toFixed(2)} for ${FACTOR} times as much`;
    if (moreMs <= MOST * Math.max(lessMs, LEAST_MS)) {
      if (moreMs >= LEAST_MS * FACTOR || tried === TRIES - 1) return;
      small *= FACTOR; // too little to tell
    }
  }
  throw new Error(`the work grows faster than its input: ${told}`);
}

async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
