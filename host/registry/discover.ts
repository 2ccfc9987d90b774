import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isAbsolute, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { errorMessage } from '../common/error-message.ts';
import type { Problem } from '../config/problems.ts';
import { type Entry, entriesOf } from './entries.ts';
import { importFault } from './import-fault.ts';
import { placeText } from './fault-place.ts';
import { statedContract } from './package-contract.ts';
import type { Candidate, ModuleKind } from './registry.ts';
import { IMPORT_CONDITIONS } from './resolve-hook.ts';
import { SharedObjects } from './shared-objects.ts';

export const MODULE_ROOTS: Readonly<Record<string, ModuleKind>> = {
  providers: 'provider',
  strategies: 'strategy',
  plugins: 'plugin',
};

const IMPORT_LIMIT_MS = 10_000;

/** A module that is there and could not be imported. Of a package neither kind nor name is known. */
export interface Refused {
  readonly kind?: ModuleKind;
  readonly name?: string;
}

export interface Discovered {
  readonly candidates: readonly Candidate[];
  readonly problems: readonly Problem[];
  readonly refused: readonly Refused[];
}

export interface DiscoverOptions {
  /** Folders that may hold `providers/`, `strategies/` and `plugins/`. */
  readonly folders: readonly string[];
  /** The configuration's `modules`: names of packages, and paths that begin with `.` or `/`. */
  readonly packages: readonly string[];
  /** Those of them that were loaded before. */
  readonly loaded?: ReadonlySet<string>;
  /** Folder that both are resolved from. */
  readonly packagesFrom: string;
  /** Line of an item of `modules` in the configuration. */
  readonly lineOf?: (index: number) => number | undefined;
  /** Names that need no import, because they are shipped: `providers/openai`. */
  readonly isShipped: (kind: ModuleKind, name: string, folder: string) => boolean;
  readonly loading: Loading;
}

/** Imports a file in the name of its module, so that what it leaves behind is known as the module's; of a listed one the kind is not known yet. */
export type Loading = <R>(
  module: { readonly kind: ModuleKind; readonly name: string; readonly file: string },
  load: () => R,
) => R;

/** Finds and imports third-party modules, one level deep, in sorted order. What cannot be imported is a problem. */
export async function discover(options: DiscoverOptions): Promise<Discovered> {
  const found: Discovered[] = [];
  for (const folder of options.folders) {
    for (const [root, kind] of Object.entries(MODULE_ROOTS)) {
      for (const entry of await entriesOf(join(folder, root))) {
        if (!options.isShipped(kind, entry.name, folder)) found.push(await importFile(kind, entry, options.loading));
      }
    }
  }
  for (const [index, name] of options.packages.entries())
    if (!options.loaded?.has(name)) found.push(await importListed(options, index));
  return {
    candidates: found.flatMap(({ candidates }) => candidates),
    problems: found.flatMap(({ problems }) => problems),
    refused: found.flatMap(({ refused }) => refused),
  };
}

/** Imports one file as a module of a kind. */
export async function importFile(
  kind: ModuleKind,
  { name, file, problem }: Entry,
  loading: Loading,
): Promise<Discovered> {
  const refused = [{ kind, name }];
  if (problem) return { candidates: [], problems: [{ path: file, rule: 'MV10', ...problem }], refused };
  try {
    const module = await loading({ kind, name, file }, () => importWithin(file));
    return {
      candidates: [{ value: module.default, kind, expectedName: name, origin: file, file }],
      problems: [],
      refused: [],
    };
  } catch (error) {
    const { message, fix, place, frame } = importFault(error, file);
    const line = place?.file === file ? place.line : undefined;
    return { candidates: [], problems: [{ path: file, rule: 'MV10', message, fix, frame, line }], refused };
  }
}

/** What an item of `modules` names exports one module, or a list of them, as its default. */
async function importListed(
  { packages, packagesFrom, lineOf, loading }: DiscoverOptions,
  index: number,
): Promise<Discovered> {
  const name = packages[index] ?? '';
  const place = { path: `modules[${index}]`, line: lineOf?.(index) };
  const title = isPath(name) ? `file ${name}` : `package ${name}`;
  const refuse = (rule: string, message: string, fix: string, frame?: string): Discovered => ({
    candidates: [],
    problems: [{ ...place, rule, message: `${title}: ${message}`, fix, frame }],
    refused: [{}],
  });
  const file = resolveListed(name, packagesFrom);
  if (file instanceof Error)
    return refuse(
      'MV10',
      notFound(file, packagesFrom),
      isPath(name)
        ? 'correct the path; it counts from the folder of the configuration'
        : `run "npm install ${name}" in the folder of the configuration, or correct the name`,
    );
  const contract = isPath(name) ? undefined : statedContract(file);
  if (contract) return refuse('MV03', contract.message, contract.fix);
  try {
    const module = await loading({ kind: 'plugin', name, file }, () => importWithin(file));
    const values = Array.isArray(module.default) ? (module.default as unknown[]) : [module.default];
    if (values.length === 0)
      return refuse('MV01', 'it exports an empty list', 'export a module by default, or a list of modules');
    return {
      candidates: values.map((value) => ({ value, kind: kindOf(value), origin: title, file, place })),
      problems: [],
      refused: [],
    };
  } catch (error) {
    const fault = importFault(error, file);
    const where = fault.place?.file === file ? ` at ${placeText(fault.place)}` : '';
    return refuse('MV10', fault.message + where, fault.fix, fault.frame);
  }
}

const isPath = (name: string): boolean => /^\.{0,2}\//.test(name) || isAbsolute(name);

/** As an `import` written in the configuration's folder would find it. */
function resolveListed(name: string, from: string): string | Error {
  try {
    const resolver = createRequire(join(from, 'package.json')).resolve as (name: string, options: object) => string;
    return resolver(name, { conditions: new Set(IMPORT_CONDITIONS) });
  } catch (error) {
    return error as Error;
  }
}

function notFound(error: NodeJS.ErrnoException, from: string): string {
  const [reason = ''] = errorMessage(error).split('\n');
  return `it cannot be found from ${from}${error.code === 'MODULE_NOT_FOUND' ? '' : `: ${reason}`}`;
}

/** A value that states no kind is taken for a plugin: the rules refuse it, whatever kind it is taken for. */
function kindOf(value: unknown): ModuleKind {
  const kind = (value as { kind?: ModuleKind } | null | undefined)?.kind;
  return Object.values(MODULE_ROOTS).find((known) => known === kind) ?? 'plugin';
}

/** Imports a file, with a time limit: of a pipe or a device the reading alone may never end. A synchronous endless loop cannot be interrupted; the documentation says so. What all code shares stays as it is. */
async function importWithin(file: string): Promise<{ default?: unknown }> {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() === false)
    throw new Unplaced('it is not a file, but a pipe or a device');
  const shared = new SharedObjects();
  let changed: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, rejectImport) => {
    timer = setTimeout(
      () => rejectImport(new Error(`its import did not finish within ${IMPORT_LIMIT_MS} ms`)),
      IMPORT_LIMIT_MS,
    );
  });
  try {
    const module = (await Promise.race([import(pathToFileURL(file).href), limit])) as { default?: unknown };
    changed = shared.restore();
    if (changed === undefined) return module;
  } finally {
    changed ??= shared.restore(); // also where it threw
    clearTimeout(timer);
  }
  throw new Unplaced(changed);
}

/** A fault of a whole file: the place in it is not where this is thrown. */
class Unplaced extends Error {
  override readonly stack = '';
}
