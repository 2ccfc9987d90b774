import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { Host } from '../../../host/host.ts';
import type { ReplicaFacts } from './sql-beat.ts';

const LONGEST_NAME = 64;
/** Linux alone says it: another one after each boot of the machine. */
const BOOT_ID = '/proc/sys/kernel/random/boot_id';

/** What other processes read of this one. */
export async function factsOf({ build, settings, redactor }: Host): Promise<ReplicaFacts> {
  const boot = await readFile(BOOT_ID, 'utf8').catch(() => '');
  return {
    host: redactor.redact(settings.replicaName ?? hostname()).slice(0, LONGEST_NAME),
    version: build.version,
    pid: process.pid,
    boot: boot.trim(),
  };
}
