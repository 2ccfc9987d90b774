import { readFileSync, writeFileSync } from 'node:fs';
import type { Unused } from './unused.ts';

const DIGESTS = new URL('digests.txt', import.meta.url);
const UNUSED = new URL('unused.json', import.meta.url);

/** What was observed of the code before instances, groups and affinity. */
export interface Recorded {
  readonly revision: string;
  /** One per seed, from 1 on. */
  readonly digests: readonly string[];
  readonly unused: Unused;
}

export function readRecorded(): Recorded {
  const [revision = '', ...digests] = readFileSync(DIGESTS, 'utf8').trim().split('\n');
  return { revision, digests, unused: JSON.parse(readFileSync(UNUSED, 'utf8')) as Unused };
}

export function writeRecorded({ revision, digests, unused }: Recorded): void {
  writeFileSync(DIGESTS, `${[revision, ...digests].join('\n')}\n`);
  writeFileSync(UNUSED, `${JSON.stringify(unused, undefined, 2)}\n`);
}
