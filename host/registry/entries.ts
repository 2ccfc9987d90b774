import { lstat, readdir, stat } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { errorMessage } from '../common/error-message.ts';

/** A module file of a folder, or why there is none where one belongs. */
export interface Entry {
  readonly name: string;
  readonly file: string;
  readonly problem?: { readonly message: string; readonly fix: string };
}

/**
 * Module files of one root: `name.ts`, `name.js` or `name/index.ts`. Names with `_` or `.` in front, type declarations, tests
 * (`name.test.ts`), what they read (`fixtures`) and installed packages are not modules.
 */
export async function entriesOf(root: string): Promise<Entry[]> {
  const names = await readdir(root).catch((error: NodeJS.ErrnoException) => error);
  if (names instanceof Error)
    return (await lstat(root).catch(() => undefined)) ? [{ name: '', file: root, problem: unreadable(names) }] : [];
  const entries: Entry[] = [];
  for (const name of names.toSorted((a, b) => (a < b ? -1 : 1))) {
    if (/^[._]/.test(name) || name === 'node_modules') continue;
    const entry = await entryOf(root, name);
    if (entry && !(entry.problem === NO_INDEX && name === FIXTURES)) entries.push(entry);
  }
  return entries;
}

/** The module that stands at a name of a folder, if one does. */
export async function entryOf(root: string, name: string): Promise<Entry | undefined> {
  const path = join(root, name);
  const isCode = /(?<!\.d|\.test|\.spec)\.[cm]?[jt]s$/.test(name);
  const own = isCode ? parse(name).name : name;
  try {
    if (!(await stat(path)).isDirectory()) return isCode ? { name: own, file: path } : undefined;
    const index = (await readdir(path))
      .toSorted((a, b) => (a < b ? -1 : 1))
      .find((inner) => /^index\.[cm]?[jt]s$/.test(inner));
    return index === undefined ? { name, file: path, problem: NO_INDEX } : { name, file: join(path, index) };
  } catch (error) {
    return { name: own, file: path, problem: unreadable(error as NodeJS.ErrnoException) };
  }
}

/** Beside a module of one file, what its tests and `gw module test` read. */
const FIXTURES = 'fixtures';
const NO_INDEX = {
  message: 'the folder holds no index file',
  fix: 'add index.ts, or begin the name of a folder of helpers with _',
};

const LINKS: Readonly<Record<string, string>> = {
  ENOENT: 'it is a link that leads nowhere',
  ELOOP: 'it is a link that leads to itself',
};

function unreadable(error: NodeJS.ErrnoException): NonNullable<Entry['problem']> {
  if (error.code === 'ENOTDIR')
    return {
      message: 'it is not a folder, and modules are looked for in a folder of this name',
      fix: 'make it one, or give it another name',
    };
  const link = LINKS[error.code ?? ''];
  return link === undefined
    ? { message: `it cannot be read: ${errorMessage(error)}`, fix: 'let the user that runs the gateway read it' }
    : { message: link, fix: 'correct the link, or remove it' };
}
