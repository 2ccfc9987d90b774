import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { faultAttributes, ModuleFault, type ModuleRef } from '../boundary/module-fault.ts';
import { TookTooLong, within } from '../common/clock.ts';
import { decodeText } from '../config/decode.ts';
import type { GatewayConfig } from '../config/document.ts';
import { unservedKeys } from '../config/unserved.ts';
import { type ConfigWatch, watchFile } from '../config/watch.ts';
import { findConfigFile, isFile, loadConfigFile, type LoadedFile } from '../config/load.ts';
import { ConfigRefused, type Problem } from '../config/problems.ts';
import type { ProviderModule } from '../contract/index.ts';
import { checkConfig } from '../generation/apply.ts';
import type { Generation } from '../generation/generation.ts';
import type { Host } from '../host.ts';
import { sendHttp } from '../upstream/send-http.ts';
import { discover } from '../registry/discover.ts';
import { SHIPPED } from '../registry/registry.ts';
import type { Writer } from '../stores/configuration-store.ts';
import { connectProvider, hasCredentials, missingVariables } from '../upstream/connect.ts';

/** The start cannot go on: each line is logged, and the exit code is 1. */
export class StartRefused extends Error {
  override readonly name = 'StartRefused';
}

/** Reads the configuration file that is named or found, with the modules beside it; `undefined` when there is none. */
export async function loadConfiguration(host: Host, path: string | undefined): Promise<LoadedFile | undefined> {
  const file = path === undefined ? await findConfigFile(host.workingDirectory) : resolve(host.workingDirectory, path);
  const loaded = file === undefined ? undefined : await loadConfigFile(file);
  const moduleProblems = await loadModules(host, loaded);
  host.registry.seal();
  if (!loaded) {
    if (moduleProblems.length > 0) throw new ConfigRefused(moduleProblems);
    return undefined;
  }
  return { ...loaded, problems: [...loaded.problems, ...moduleProblems] };
}

/** Third-party modules: of the installation, beside the file, and from the packages it lists. All their problems at once. */
async function loadModules(host: Host, file: LoadedFile | undefined): Promise<readonly Problem[]> {
  const install = realpathSync(host.installDirectory);
  const folders = [...new Set([install, ...(file && isFolder(file.folder) ? [realpathSync(file.folder)] : [])])];
  const { candidates, problems, refused } = await discover({
    folders,
    packages: file?.config?.modules ?? [],
    packagesFrom: file?.folder ?? host.workingDirectory,
    lineOf: (index) => file?.lineOf(['modules', index]),
    isShipped: (kind, name, folder) => folder === install && host.registry.originOf(kind, name) === SHIPPED,
  });
  for (const one of refused) host.registry.refuse(one);
  return [...problems, ...candidates.flatMap((candidate) => host.registry.add(candidate))];
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** Throws everything that is wrong with a loaded file at once, before anything is opened for it. */
export function refuseProblems(host: Host, file: LoadedFile | undefined): void {
  const problems = file ? checkConfig(host, file) : [];
  if (problems.length > 0) throw new ConfigRefused(problems);
}

/**
 * By name; last those that any one of several variables registers: a machine may have one of them for other reasons, and
 * the first provider is the first target of the built-in default.
 */
function inRegistrationOrder(modules: readonly ProviderModule[]): ProviderModule[] {
  const isIncidental = ({ connection }: ProviderModule): boolean => connection.env.some((need) => typeof need !== 'string');
  return modules.toSorted((a, b) => Number(isIncidental(a)) - Number(isIncidental(b)) || (a.name < b.name ? -1 : 1));
}

/** Longest time that `open` of a provider may take: some ask for a token, or look for credentials in several places. */
const OPEN_LIMIT_MS = 30_000;

/** Registers every provider whose credentials are in the environment. One that cannot be built is left out, and logged; one that never ends ends the start. */
export async function connectProviders(host: Host): Promise<void> {
  const { variables, log, counters, services } = host;
  const deps = { log, now: services.clock.now, send: sendHttp(services) };
  const providers = new Map<string, Awaited<ReturnType<typeof connectProvider>>>();
  for (const module of inRegistrationOrder([...host.registry.providers.values()])) {
    if (module.offline || !hasCredentials(module, variables)) continue;
    try {
      providers.set(module.name, await within(connectProvider(module, variables, { ...deps, file: host.registry.fileOf('provider', module.name) }), OPEN_LIMIT_MS, services.clock, `open of the provider "${module.name}"`));
    } catch (error) {
      if (error instanceof TookTooLong) throw new StartRefused(error.message);
      const ref: ModuleRef = { kind: 'provider', name: module.name, file: host.registry.fileOf('provider', module.name) };
      log.warn('provider could not be set up, it is skipped', faultAttributes(new ModuleFault(ref, 'connection', error)));
      counters.add('gateway_provider_init_failures_total', { provider: module.name });
    }
  }
  host.providers = providers;
  for (const provider of providers.keys()) log.info('provider registered', { provider });
  if (providers.size === 0) log.warn('no provider is registered: no credential was found in the environment', { rule: 'WN08' });
}

/** A place where other installations keep their configuration; this program never reads it, and warns when a file is there. */
const UNREAD = ['/etc/gw/config.yaml', '/etc/gw/config.yml', '/etc/gw/config.json'];

export function warnOfUnreadFiles(host: Host): void {
  if (host.settings.configPath !== undefined) return;
  for (const path of UNREAD) {
    if (isFile(path)) host.log.warn('this file is not read: name it in GATEWAY_CONFIG', { rule: 'WN03', path });
  }
}

/** Applies what is stored, else the file, else the embedded default: a target per registered provider, or the offline one. */
export async function applyStartConfiguration(host: Host, file: LoadedFile | undefined): Promise<void> {
  const stored = await host.stores.configuration.value.read();
  const source = stored === undefined ? file : decodeText(stored, 'json');
  const generation = await (source ? host.applier.applyStart(source) : host.applier.applyDefault(defaultConfig(host)));
  host.configFile = file;
  if (stored === undefined) tellConfiguration(host, generation, file ? 'file' : 'defaults');
  else tellConfiguration(host, generation, 'store', { config_store: host.stores.configuration.backend });
}

/** What is in force from now on, and what of it does nothing. */
function tellConfiguration(host: Host, { config, maxRequestBytes }: Generation, source: 'store' | 'file' | 'defaults', more: object = {}): void {
  const file = source === 'file' ? host.configFile : undefined;
  if (file) host.log.info('config file loaded', { path: file.path, strategy: config.strategy.mode, targets: config.targets.length });
  if (file && config.apiVersion !== 'v1') host.log.warn('apiVersion is not v1', { rule: 'WN01', api_version: config.apiVersion });
  host.log.info('active config resolved', {
    source, strategy: config.strategy.mode, targets: config.targets.length,
    plugins: config.plugins.filter(({ enabled }) => enabled).length, max_request_bytes: maxRequestBytes, ...(file && { file: file.path }), ...more,
  });
  const plugins = config.plugins.filter(({ enabled }) => enabled).map(({ name, stage }) => `${name} (${stage ?? ''})`);
  const later = unservedKeys(config);
  if (later.length > 0) host.log.warn('these keys have no effect in this version', { keys: later.join(', ') });
  if (plugins.length > 0) host.log.info('plugins loaded', { plugins: plugins.join(', ') });
  warnOfUnregistered(host, config);
}

/** Who changed the configuration, when the watched file did. */
const FILE: Writer = { actor: 'file' };

/** Looks after the file and applies what changes in it; a file with a problem changes nothing. Modules are those of the start. */
export async function watchConfiguration(host: Host): Promise<ConfigWatch | undefined> {
  const path = host.configFile?.path;
  if (path === undefined || !host.settings.watchesConfig) return undefined;
  return watchFile(path, host.services.clock, async () => {
    try {
      const file = await loadConfigFile(path);
      const generation = await host.applier.apply(file, FILE);
      host.configFile = file;
      tellConfiguration(host, generation, 'file', { actor: FILE.actor, version: host.stores.configuration.value.version });
    } catch (error) {
      host.log.error('config file refused, the running configuration stays', { path, error });
    }
  });
}

/** In production nothing offline registers by itself: without a credential the gateway then starts empty. */
function defaultConfig(host: Host): GatewayConfig {
  const offline = [...host.registry.providers.values()].filter((module) => module.offline).slice(0, 1);
  const fallback = host.settings.isProduction ? [] : offline.map(({ name }) => name);
  const names = host.providers.size > 0 ? [...host.providers.keys()] : fallback;
  const empty = decodeText('strategy: {mode: fallback}', 'yaml').config;
  if (!empty) throw new Error('the embedded default does not decode');
  return { ...empty, targets: names.map((name) => ({ virtual_key: name })) };
}

function warnOfUnregistered(host: Host, config: GatewayConfig): void {
  const known = (name: string): ProviderModule | undefined => host.registry.providers.get(name);
  const absent = config.targets.map(({ virtual_key }) => virtual_key).filter((name) => !host.providers.has(name) && !known(name)?.offline);
  const wanted = (names: readonly string[]): string =>
    names.flatMap((name) => { const module = known(name); return module ? missingVariables(module, host.variables) : []; }).join(', ');
  if (config.targets.length === 0) {
    const all = [...host.registry.providers.values()].filter(({ offline }) => !offline).map(({ name }) => name);
    host.log.error('no provider is registered, every request will be refused', { set_one_of: wanted(all) });
  } else if (absent.length === config.targets.length) {
    host.log.error('no target has a registered provider, every request will be refused', { targets: absent.join(', '), set: wanted(absent) });
  } else if (absent.length > 0) {
    host.log.warn('targets without a registered provider get no traffic', { targets: absent.join(', '), set: wanted(absent) });
  }
}
