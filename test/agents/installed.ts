import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Missing, skipWithout } from '../kit/missing.ts';

/** The one place that says which agents are run, in which versions: an alias each. */
export const VERSIONS = fileURLToPath(new URL('versions/package.json', import.meta.url));
/** Where they are: some gigabytes, kept between runs, apart from the dependencies of the gateway. */
export const FOLDER = fileURLToPath(new URL('.installed/', import.meta.url));
/** A copy of the versions, written last of an installation. */
export const READY = join(FOLDER, 'ready');

interface Manifest {
  readonly bin: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
}

/** Every alias with what it stands for, such as `npm:opencode-ai@1.18.33`. */
export const aliases = (): Readonly<Record<string, string>> =>
  (JSON.parse(readFileSync(VERSIONS, 'utf8')) as { dependencies: Record<string, string> }).dependencies;

export const versionOf = (alias: string): string => aliases()[alias]?.split('@').at(-1) ?? '';

export const isInstalled = (): boolean =>
  existsSync(READY) && readFileSync(READY, 'utf8') === readFileSync(VERSIONS, 'utf8');

/** Skips a suite where the agents of today's versions are not there. */
export function installedBefore(): void {
  before(function look() {
    if (!isInstalled())
      skipWithout(this, new Missing('coding agents', 'node test/agents/install.ts has not installed them'));
  });
}

export const folderOf = (alias: string): string => join(FOLDER, 'node_modules', alias);

export const manifestOf = (alias: string): Manifest =>
  JSON.parse(readFileSync(join(folderOf(alias), 'package.json'), 'utf8')) as Manifest;

/** The words that begin a command line of an agent: Node and a script, or a program. */
export function programOf(alias: string): readonly [program: string, ...args: string[]] {
  const [bin = ''] = Object.values(manifestOf(alias).bin);
  const path = join(folderOf(alias), bin);
  return /\.[cm]?js$/.test(bin) ? [process.execPath, path] : [path];
}

/** Where an agent looks for programs: the Node that runs the tests stands before any other. */
export const SEARCHED = [dirname(process.execPath), process.env['PATH']].join(delimiter);
