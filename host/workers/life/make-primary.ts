import type { Clock } from '../../common/clock.ts';
import type { LineWriter } from '../../log/logger.ts';
import { WholeLines } from './whole-lines.ts';
import { Primary } from './primary.ts';
import { workerForks } from './worker-process.ts';

export interface PrimaryOptions {
  readonly size: number;
  readonly clock: Clock;
  /** The bin, and its arguments. */
  readonly program: string;
  readonly args: readonly string[];
  /** Takes lines of the log, as every process writes them. */
  readonly lines: LineWriter;
  readonly err: (text: string) => void;
}

/** This process as that of several workers: what they write is copied line by line, so that no two lines are mixed. */
export function makePrimary({ size, clock, program, args, lines, err }: PrimaryOptions): Primary {
  const fork = workerForks({
    program,
    args,
    onOutput: (stream, descriptor) => {
      const whole = new WholeLines((line) => (descriptor === 1 ? lines.write(line) : err(line)));
      stream.setEncoding('utf8');
      stream.on('data', (text: string) => whole.take(text));
      stream.on('end', () => whole.end());
      stream.on('error', () => whole.end());
    },
  });
  return new Primary({ size, clock, fork });
}
