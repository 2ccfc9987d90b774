import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context } from 'mocha';

/** The file in which the processes of a run note what was missing, a line each; there is none while nothing is. */
const VARIABLE = 'GW_TEST_MISSING';

/** Something that a test needs, and that this machine does not have or does not allow. The reason is one line. */
export class Missing extends Error {
  readonly why: string;

  constructor(what: string, why: string, options?: ErrorOptions) {
    super(`${what}: ${why}`, options);
    this.name = 'Missing';
    this.why = why;
  }
}

/** Skips the test, or the suite whose hook asks; with `GW_TEST_TOOLS=required`, as `.ci/run` sets it, it fails. */
export function skipWithout(test: Context, missing: Missing): never {
  const { GW_TEST_TOOLS, [VARIABLE]: file } = process.env;
  if (GW_TEST_TOOLS === 'required') throw missing;
  if (file) appendFileSync(file, `${missing.message}\n`, { mode: 0o600 });
  return test.skip();
}

/** Before a run; its processes inherit the name of the file. */
export function noteMissing(): void {
  process.env[VARIABLE] = join(tmpdir(), `gw-missing-${randomUUID()}`);
}

/** After a run: why tests were skipped, once for each reason. */
export async function tellMissing(): Promise<void> {
  const { [VARIABLE]: file } = process.env;
  if (!file) return;
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  await rm(file, { force: true });
  for (const line of new Set(lines)) process.stderr.write(`Skipped for want of ${line}\n`);
}
