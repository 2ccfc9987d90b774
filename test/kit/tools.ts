import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Context } from 'mocha';

/** Debian keeps servers where only root's PATH looks. */
const SERVERS = ['/usr/sbin', '/usr/local/sbin'];

/**
 * Path of a program of this machine. Without it the test is skipped; with `GW_TEST_TOOLS=required`, as `.ci/run` sets it, it
 * fails.
 */
export function requireTool(test: Context, name: string): string {
  const { PATH = '', GW_TEST_TOOLS } = process.env;
  const found = [...PATH.split(delimiter), ...SERVERS].map((folder) => join(folder, name)).find(isExecutable);
  if (found !== undefined) return found;
  if (GW_TEST_TOOLS === 'required') throw new Error(`this test needs ${name}, which is not installed`);
  return test.skip();
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
