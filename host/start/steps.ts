import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { TookTooLong } from '../common/clock.ts';
import { decodeStored, decodeText, isOfIdentity } from '../config/decode.ts';
import { findConfigFile, isFile, loadConfigFile, type LoadedFile, withDefaults } from '../config/load.ts';
import { ConfigRefused, type Problem } from '../config/problems.ts';
import { checkConfig } from '../generation/check.ts';
import { connectEnvironment } from '../generation/instances/environment-providers.ts';
import type { Host } from '../host.ts';
import { discover, type DiscoverOptions } from '../registry/discover.ts';
import { SHIPPED } from '../registry/registry.ts';

/** The start cannot go on: each line is logged, and the exit code is 1. */
export class StartRefused extends Error {
  override readonly name = 'StartRefused';
}

/** Reads the configuration file that is named or found, with the modules beside it; `undefined` when there is none. No module comes after it. */
export async function loadConfiguration(host: Host, path: string | undefined): Promise<LoadedFile | undefined> {
  try {
    return await loadFile(host, path);
  } finally {
    host.registry.seal();
  }
}

/** Loads the file of a start, where modules of a stored configuration may follow. */
export async function loadFile(host: Host, path: string | undefined): Promise<LoadedFile | undefined> {
  const file = path === undefined ? await findConfigFile(host.workingDirectory) : resolve(host.workingDirectory, path);
  return loadFileAt(host, file);
}

/** Loads what stands at a path, with the modules beside it; without a path the modules of the installation alone. */
export async function loadFileAt(host: Host, path: string | undefined): Promise<LoadedFile | undefined> {
  const loaded = path === undefined ? undefined : await loadConfigFile(path);
  const problems = await loadModules(host, loaded, loaded && [loaded.folder]);
  if (loaded) return withProblems(loaded, problems);
  if (problems.length > 0) throw new ConfigRefused(problems);
  return undefined;
}

/** Takes a configuration that stands in no file: no folder is beside it, and packages are looked up from the working directory. */
export async function loadDocument(host: Host, document: object): Promise<LoadedFile> {
  const decoded = withDefaults(decodeText(JSON.stringify(document), 'json'));
  const given = { ...decoded, path: '(a document)', folder: host.workingDirectory };
  return withProblems(given, await loadModules(host, given, []));
}

function withProblems(loaded: LoadedFile, moduleProblems: readonly Problem[]): LoadedFile {
  const unread = new Set(loaded.problems.map(({ path }) => path)); // an item that is not a text names no package
  return { ...loaded, problems: [...loaded.problems, ...moduleProblems.filter(({ path }) => !unread.has(path))] };
}

/** Third-party modules: of the installation, beside the file, and from the packages it lists. All their problems at once. */
async function loadModules(
  host: Host,
  file: LoadedFile | undefined,
  beside: readonly string[] = [],
): Promise<readonly Problem[]> {
  const install = realpathSync(host.installDirectory);
  const folders = [...new Set([install, ...beside.filter(isFolder).map((folder) => realpathSync(folder))])];
  return register(host, {
    folders,
    packages: file?.config?.modules ?? [],
    packagesFrom: file?.folder ?? host.workingDirectory,
    lineOf: (index) => file?.lineOf(['modules', index]),
    isShipped: (kind, name, folder) => folder === install && host.registry.originOf(kind, name) === SHIPPED,
  });
}

/**
 * Modules that only the stored configuration lists: the file that listed them when it was stored may be gone by now. Throws all their
 * problems at once. From here on no module can be added. Returns the names that `providers` takes in the configuration that the start
 * begins with.
 */
export async function loadStoredModules(host: Host, file: LoadedFile | undefined): Promise<ReadonlySet<string>> {
  const { text, isStored } = await host.stores.configuration.value.newest();
  const stored = isStored && text !== undefined ? decodeStored(text) : undefined;
  const packages = stored?.config?.modules ?? [];
  const problems = await register(host, {
    folders: [],
    packages,
    packagesFrom: file?.folder ?? host.workingDirectory,
    loaded: host.registry.listed,
    isShipped: () => false,
  });
  host.registry.seal();
  if (problems.length > 0) throw new ConfigRefused(problems);
  return new Set(Object.keys((stored ?? file)?.config?.providers ?? {}));
}

async function register(
  { registry, loading }: Host,
  options: Omit<DiscoverOptions, 'loading'>,
): Promise<readonly Problem[]> {
  const { candidates, problems, refused } = await discover({ ...options, loading });
  for (const one of refused) registry.refuse(one);
  for (const item of options.packages) registry.list(item);
  return [...problems, ...candidates.flatMap((candidate) => registry.add(candidate))];
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/**
 * Throws everything that is wrong with a loaded file at once, before anything is opened for it. Where a configuration may be stored,
 * which would count before the file, only what is wrong with its modules stops the start by now, and what is wrong with `identity`, which no stored
 * configuration has.
 */
export function refuseProblems(host: Host, file: LoadedFile | undefined): void {
  const problems = file ? checkConfig(host, file) : [];
  const isFinal =
    host.settings.configurationStore.backend === 'memory' ||
    problems.some((problem) => problem.rule.startsWith('MV') || isOfIdentity(problem));
  if (problems.length > 0 && isFinal) throw new ConfigRefused(problems);
}

/** Registers every provider whose credentials are in the environment, but for those whose name is taken. One that never ends ends the start. */
export async function connectProviders(host: Host, taken: ReadonlySet<string> = new Set()): Promise<void> {
  try {
    await connectEnvironment(host, taken);
  } catch (error) {
    throw error instanceof TookTooLong ? new StartRefused(error.message) : error;
  }
  if (host.providers.size === 0 && taken.size === 0)
    host.log.warn('no provider is registered: no credential was found in the environment', { rule: 'WN08' });
}

/** A place where other installations keep their configuration; this program never reads it, and warns when a file is there. */
const UNREAD = ['/etc/gw/config.yaml', '/etc/gw/config.yml', '/etc/gw/config.json'];

export function warnOfUnreadFiles(host: Host): void {
  if (host.settings.configPath !== undefined) return;
  for (const path of UNREAD) {
    if (isFile(path)) host.log.warn('this file is not read: name it in GATEWAY_CONFIG', { rule: 'WN03', path });
  }
}
