import type { Host } from '../../../host/host.ts';
import type { Profiler } from './profiler.ts';

/** Profiles that are files. */
export type FileProfile = 'cpuprofile' | 'heap' | 'profile';

/** What the primary asks a worker for. */
export interface AskedProfile {
  readonly name: FileProfile | 'eventloop';
  readonly seconds: number;
}

interface Taking {
  /** Waits for as long as the profile takes. */
  readonly until: () => Promise<void>;
  readonly now: () => number;
}

export async function takeProfile(profiler: Profiler, name: FileProfile, { until, now }: Taking): Promise<Buffer> {
  if (name === 'heap') return profiler.heapPprof(now);
  if (name === 'profile') return profiler.cpuPprof(until, now);
  return Buffer.from(JSON.stringify(await profiler.cpu(until)));
}

/** What a worker answers. */
export async function profileOf(
  profiler: Profiler | undefined,
  { name, seconds }: AskedProfile,
  { services: { clock } }: Host,
): Promise<unknown> {
  if (!profiler) throw new Error('the profiler is not open');
  if (name === 'eventloop') return profiler.eventLoop();
  const until = (): Promise<void> =>
    new Promise((resolve) => {
      clock.timer(seconds * 1000, resolve);
    });
  return takeProfile(profiler, name, { until, now: clock.now });
}
