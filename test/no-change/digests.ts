import { readFileSync, writeFileSync } from 'node:fs';

const FILE = new URL('digests.txt', import.meta.url);

/** What was observed of the code before instances, groups and sessions: one digest per seed, from 1 on. */
export interface Digests {
  readonly revision: string;
  readonly digests: readonly string[];
}

export function readDigests(): Digests {
  const [revision = '', ...digests] = readFileSync(FILE, 'utf8').trim().split('\n');
  return { revision, digests };
}

export function writeDigests({ revision, digests }: Digests): void {
  writeFileSync(FILE, `${[revision, ...digests].join('\n')}\n`);
}
