import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Context } from 'mocha';
import { Missing, skipWithout } from './missing.ts';

/** Debian keeps servers where only root's PATH looks. */
const SERVERS = ['/usr/sbin', '/usr/local/sbin'];

/** Path of a program of this machine. Without it the test is skipped, or fails where every tool is required. */
export function requireTool(test: Context, name: string): string {
  try {
    return findTool(name);
  } catch (error) {
    if (error instanceof Missing) return skipWithout(test, error);
    throw error;
  }
}

/** Path of a program of this machine. Throws a `Missing`, for which `forSuite` skips its suite. */
export function findTool(name: string): string {
  const { PATH = '' } = process.env;
  const found = [...PATH.split(delimiter), ...SERVERS].map((folder) => join(folder, name)).find(isExecutable);
  if (found === undefined) throw new Missing(name, 'it is not installed');
  return found;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
