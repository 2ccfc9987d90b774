import { expect } from 'chai';

/** Work beside which the start of anything is lost: smaller figures count as this, in milliseconds. */
const LEAST_MS = 10;
const ROUNDS = 6;

/** Milliseconds of CPU time that this process spends on something. What else the machine does is not in it. */
export async function cpuOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Twice the size may take three times the work at most, by the least of several runs; one that holds at once is not run again. */
export async function expectProportion(count: number, work: (count: number) => unknown): Promise<void> {
  let small = Number.POSITIVE_INFINITY;
  let large = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) {
    small = Math.min(small, await cpuOf(() => work(count)));
    large = Math.min(large, await cpuOf(() => work(2 * count)));
    if (large < 3 * Math.max(small, LEAST_MS)) return;
  }
  expect(large / small, `${small} ms of CPU, and ${large} ms for twice as much`).to.be.below(3);
}
