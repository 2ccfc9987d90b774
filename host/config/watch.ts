import { stat } from 'node:fs/promises';
import type { Clock, Timer } from '../common/clock.ts';

/** Time between two looks at the file. Unlike notifications of the system, looking also works on network file systems and when a link is replaced. */
export const WATCH_INTERVAL_MS = 250;

export interface ConfigWatch {
  /** Resolves when no look and no change is under way any more. */
  stop(): Promise<void>;
}

/** Calls `onChange` after each change of a file, once two looks in a row saw the same, so that half a file is not taken for one. */
export async function watchFile(path: string, clock: Clock, onChange: () => Promise<void>): Promise<ConfigWatch> {
  let settled = await stateOf(path);
  let last = settled;
  let timer: Timer | undefined;
  let isStopped = false;
  let look: Promise<void> = Promise.resolve();

  const next = async (): Promise<void> => {
    const seen = await stateOf(path);
    if (seen === last && seen !== settled && !isStopped) {
      settled = seen;
      await onChange();
    }
    last = seen;
    if (!isStopped)
      timer = clock.timer(WATCH_INTERVAL_MS, () => {
        look = next();
      });
  };

  look = next();
  return {
    stop: async () => {
      isStopped = true;
      timer?.cancel();
      await look;
    },
  };
}

/** What tells one content of a file from another without reading it; empty when there is no file. */
async function stateOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [ino, size, mtimeNs, ctimeNs].join(' ');
  } catch {
    return '';
  }
}
