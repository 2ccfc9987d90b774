import { readdir, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, parse } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Problem } from '../config/problems.ts';
import type { Candidate, ModuleKind } from './registry.ts';

export const MODULE_ROOTS: Readonly<Record<string, ModuleKind>> = { providers: 'provider', strategies: 'strategy', plugins: 'plugin' };

const IMPORT_LIMIT_MS = 10_000;

export interface Discovered {
  readonly candidates: readonly Candidate[];
  readonly problems: readonly Problem[];
}

export interface DiscoverOptions {
  /** Folders that may hold `providers/`, `strategies/` and `plugins/`. */
  readonly folders: readonly string[];
  /** Package names from the configuration's `modules`. */
  readonly packages: readonly string[];
  /** Folder that package names are resolved from. */
  readonly packagesFrom: string;
  /** Names that need no import, because they are shipped: `providers/openai`. */
  readonly isShipped: (kind: ModuleKind, name: string, folder: string) => boolean;
}

/** Finds and imports third-party modules, one level deep, in sorted order. What cannot be imported is a problem. */
export async function discover(options: DiscoverOptions): Promise<Discovered> {
  const found: Discovered[] = [];
  for (const folder of options.folders) {
    for (const [root, kind] of Object.entries(MODULE_ROOTS)) {
      for (const entry of await entriesOf(join(folder, root))) {
        if (!options.isShipped(kind, entry.name, folder)) found.push(await importFile(kind, entry));
      }
    }
  }
  for (const name of options.packages) found.push(await importPackage(name, options.packagesFrom));
  return { candidates: found.flatMap(({ candidates }) => candidates), problems: found.flatMap(({ problems }) => problems) };
}

interface Entry {
  readonly name: string;
  readonly file: string;
}

/** Module files of one root: `name.ts`, `name.js` or `name/index.ts`; names with `_` or `.` in front are skipped. */
async function entriesOf(root: string): Promise<Entry[]> {
  const found = await readdir(root, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
  const entries: Entry[] = [];
  for (const item of found.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (/^[._]/.test(item.name)) continue;
    const path = join(root, item.name);
    const isFolder = item.isSymbolicLink() ? (await stat(path)).isDirectory() : item.isDirectory();
    if (isFolder) {
      const index = (await readdir(path)).find((name) => /^index\.[cm]?[jt]s$/.test(name));
      entries.push({ name: item.name, file: join(path, index ?? 'index.ts') });
    } else if (/(?<!\.d)\.[cm]?[jt]s$/.test(item.name)) {
      entries.push({ name: parse(item.name).name, file: path });
    }
  }
  return entries;
}

async function importFile(kind: ModuleKind, { name, file }: Entry): Promise<Discovered> {
  try {
    const module = await importWithin(pathToFileURL(file).href);
    return { candidates: [{ value: module.default, kind, expectedName: name, origin: file }], problems: [] };
  } catch (error) {
    return { candidates: [], problems: [importProblem(file, error)] };
  }
}

/** A package exports one module, or a list of them, as its default. */
async function importPackage(name: string, from: string): Promise<Discovered> {
  try {
    const file = resolvePackage(name, from);
    const module = await importWithin(pathToFileURL(file).href);
    const values = Array.isArray(module.default) && module.default.length > 0 ? (module.default as unknown[]) : [module.default];
    return { candidates: values.map((value) => ({ value, kind: kindOf(value), origin: `package ${name}` })), problems: [] };
  } catch (error) {
    return { candidates: [], problems: [importProblem(`package ${name}`, error)] };
  }
}

/** As an `import` written in the configuration's folder would find it. */
function resolvePackage(name: string, from: string): string {
  const resolver = createRequire(join(from, 'package.json')).resolve as (name: string, options: object) => string;
  return resolver(name, { conditions: new Set(['node', 'import', 'default']) });
}

function kindOf(value: unknown): ModuleKind {
  const kind = (value as { kind?: ModuleKind } | null | undefined)?.kind;
  return Object.values(MODULE_ROOTS).find((known) => known === kind) ?? 'plugin';
}

/** Imports with a time limit. A synchronous endless loop cannot be interrupted; the documentation says so. */
async function importWithin(url: string): Promise<{ default?: unknown }> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, rejectImport) => {
    timer = setTimeout(() => rejectImport(new Error(`its import did not finish within ${IMPORT_LIMIT_MS} ms`)), IMPORT_LIMIT_MS);
  });
  try {
    return (await Promise.race([import(url), limit])) as { default?: unknown };
  } finally {
    clearTimeout(timer);
  }
}

function importProblem(path: string, error: unknown): Problem {
  const message = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
  return { path, rule: 'MV10', message: `it cannot be imported: ${message}`, fix: 'correct the module, or remove it from the folder' };
}
