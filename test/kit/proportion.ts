import { median } from '../bench/figures.ts';

/** Makes the work for a size of input. Making it is not measured; the work may run several times. */
export type Prepare = (size: number) => () => unknown;

/** Twice the size may take three times the work: work in proportion takes twice as much, quadratic work four times. */
const MOST = 3;
const ROUNDS = 8;
/** Beside this, in milliseconds, compiling what runs for the first time is nothing: one round will do. */
const LONG_MS = 60;
/** From here on, in milliseconds, work stands out: below it are the measuring, and the steps in which memory is got. What takes less is tried at a larger size, and so is what seems out of proportion and takes less than `LONG_MS`. */
const CLEAR_MS = 6;
const TRIES = 4;
const STEP = 4;

/**
 * Fails where twice the input takes more than three times the work. Counts the CPU time of this process, the least of several
 * runs, so that neither other programs nor a collection of garbage in between counts, and the median of what neighbouring runs
 * make of each other, so that one lucky run of the smaller does not count either; the size grows until the work stands out from
 * the measuring, or `largest` is reached, beyond which the product refuses to do it.
 */
export async function expectProportion(
  size: number,
  prepare: Prepare,
  largest = Number.POSITIVE_INFINITY,
): Promise<void> {
  const problem = await growthProblem(size, prepare, largest);
  if (problem !== undefined) throw new Error(problem);
}

/** What `expectProportion` says; `undefined` where the work is in proportion. */
export async function growthProblem(
  size: number,
  prepare: Prepare,
  largest = Number.POSITIVE_INFINITY,
): Promise<string | undefined> {
  for (let tried = 1, small = size; ; tried += 1, small = Math.min(small * STEP, largest)) {
    const { lessMs, moreMs, holds } = await leastOf(prepare(small), prepare(2 * small));
    const isLast = tried === TRIES || small >= largest;
    if (holds) {
      if (moreMs >= CLEAR_MS || isLast) return undefined;
    } else if (moreMs >= LONG_MS || isLast)
      return `the work grows faster than its input: ${lessMs.toFixed(2)} ms of CPU for ${small}, ${moreMs.toFixed(2)} for twice as much`;
  }
}

interface Least {
  readonly lessMs: number;
  readonly moreMs: number;
  readonly holds: boolean;
}

/** Rounds of both, until they are seen to be in proportion. The first round also compiles what it runs. */
async function leastOf(less: () => unknown, more: () => unknown): Promise<Least> {
  const [lessAll, moreAll]: [number[], number[]] = [[], []];
  for (let round = 1; ; round += 1) {
    lessAll.push(await cpuOf(less));
    moreAll.push(await cpuOf(more));
    const [lessMs, moreMs] = [Math.min(...lessAll), Math.min(...moreAll)];
    if ((round > 1 || lessMs >= LONG_MS) && isInProportion(lessMs, moreMs)) return { lessMs, moreMs, holds: true };
    if (round === ROUNDS)
      return { lessMs, moreMs, holds: median(moreAll.map((moreOne, at) => moreOne / (lessAll[at] ?? 0))) <= MOST };
  }
}

const isInProportion = (lessMs: number, moreMs: number): boolean => moreMs <= MOST * Math.max(lessMs, CLEAR_MS / MOST);

/** Milliseconds of CPU time that this process spends on something. */
async function cpuOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
