import { type Shape, SHAPES } from './bodies.ts';
import { median } from './figures.ts';
import { asker, checkAnswer, type Setting } from './measure.ts';
import { formatTable } from './report.ts';
import type { RunningSubject, Subject } from './subjects.ts';

export interface AllocationRow {
  readonly shape: Shape;
  readonly subject: string;
  /** On the heap of V8, whether or not it was collected since. */
  readonly bytesPerRequest: number;
}

/** Bytes that each subject allocates for a request: all are started, then measured in turns, and never the same first. */
export async function measureAllocations(
  setting: Setting,
  subjects: readonly Subject[],
  shapes: readonly Shape[],
): Promise<AllocationRow[]> {
  const rows: AllocationRow[] = [];
  for (const shape of SHAPES.filter((each) => each !== 'paced' && shapes.includes(each))) {
    // a stream's pace changes what one turn of the loop sends, not what a request is
    process.stderr.write(`counting allocations, ${shape}\n`);
    const running: RunningSubject[] = [];
    for (const subject of subjects) running.push(await subject.start(setting.upstreams.baseUrl(shape, 'same')));
    for (const each of running) await checkAnswer(each, shape);
    const samples = await inTurns(setting, running, shape);
    rows.push(
      ...running.map(({ name }, index) => ({ shape, subject: name, bytesPerRequest: median(samples[index]!) })),
    );
    for (const { stop } of running) await stop();
  }
  return rows;
}

async function inTurns(setting: Setting, running: readonly RunningSubject[], shape: Shape): Promise<number[][]> {
  const { rounds, warmUps } = setting.plan;
  const ask = asker(setting, shape);
  const samples = running.map(() => [] as number[]);
  for (let round = -warmUps; round < rounds; round += 1) {
    for (let index = 0; index < running.length; index += 1) {
      const turn = (index + round + warmUps) % running.length;
      const { allocatedBytes } = running[turn]!;
      const before = await allocatedBytes();
      const { requests } = await ask('load', running[turn]!);
      if (round >= 0) samples[turn]!.push(((await allocatedBytes()) - before) / requests);
    }
  }
  return samples;
}

/** Ratios are to the first subject of the shape: the first state named with `--against`, else this checkout. */
export function formatAllocations(rows: readonly AllocationRow[]): string {
  const cells = rows.map(({ shape, subject, bytesPerRequest }) => {
    const base = rows.find((row) => row.shape === shape)?.bytesPerRequest ?? bytesPerRequest;
    return [shape, subject, `${bytesPerRequest.toFixed(0)} (${(bytesPerRequest / base).toFixed(3)})`];
  });
  return `${formatTable(['shape', 'subject', 'allocated B/req'], cells).join('\n')}\n`;
}
