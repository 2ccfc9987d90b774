import { lstat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Problem } from '../config/problems.ts';
import { importFile, type Loading } from './discover.ts';
import { entryOf } from './entries.ts';
import { isFields } from '../contract/index.ts';
import { type GatewayModule, helperOf, isKind, unreadable } from './registry.ts';

/** Imports the module of one file or folder, whatever its kind, without looking at its rules. */
export async function loadModule(
  path: string,
  loading: Loading,
): Promise<{ readonly module: GatewayModule; readonly file: string } | { readonly problem: Problem }> {
  if (!(await isThere(path)))
    return { problem: { path, rule: 'MV10', message: 'there is no such file or folder', fix: 'correct the path' } };
  const entry = await entryOf(dirname(path), basename(path));
  if (!entry)
    return {
      problem: {
        path,
        rule: 'MV10',
        message: 'it is not a file of code',
        fix: 'name a .ts or .js file, or a folder with an index file',
      },
    };
  const {
    candidates: [candidate],
    problems: [problem],
  } = await importFile('plugin', entry, loading);
  if (problem) return { problem };
  const value: unknown = candidate?.value;
  try {
    if (isFields(value) && isKind(value['kind']))
      return { module: value as unknown as GatewayModule, file: entry.file };
  } catch (error) {
    return { problem: { path: entry.file, ...unreadable(error) } };
  }
  return {
    problem: {
      path: entry.file,
      rule: 'MV01',
      message: 'it has no default export of a module',
      fix: `export default ${helperOf('plugin')}({ … }), or the helper of its kind`,
    },
  };
}

/** Whether something stands at a path, be it a link that leads nowhere. */
async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => code !== 'ENOENT',
  );
}
