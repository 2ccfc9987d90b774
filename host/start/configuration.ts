import { canonicalJson } from '../config/canonical.ts';
import { type Decoded, decodeStored, decodeText, holdsIdentity, withoutIdentity } from '../config/decode.ts';
import type { GatewayConfig } from '../config/document.ts';
import { ownSecretsIn } from '../config/grants/reference-rules.ts';
import type { LoadedFile } from '../config/load.ts';
import { type Problem, problemLine } from '../config/problems.ts';
import type { ProviderModule } from '../contract/index.ts';
import { placeModules } from '../generation/writes/admin-problems.ts';
import { checkConfig } from '../generation/check.ts';
import { configSource } from '../generation/config-source.ts';
import type { StartSource } from '../generation/writes/start-source.ts';
import type { Host } from '../host.ts';
import type { DefaultDocument } from '../host-hooks.ts';
import type { NewestConfiguration } from '../stores/configuration-store.ts';
import { missingVariables } from '../upstream/connect.ts';

/** Applies what is stored, else the file, else the embedded default: a target per registered provider, or the offline one. */
export async function applyStartConfiguration(host: Host, written: LoadedFile | undefined): Promise<void> {
  const file = written && withoutIdentity(written);
  const { configuration } = host.stores;
  const newest = await configuration.value.newest();
  const source = sourceOf(host, file, newest);
  if (source.stored) tellStoredIdentity(host, newest);
  await host.applier.applyStart(source);
  host.configFile = file;
  configuration.value.onChange?.(() => void host.applier.follow());
  if (!source.stored) {
    tellConfiguration(host);
    return;
  }
  if (file) tellSuperseded(host, file);
  tellConfiguration(host, { config_store: configuration.backend });
}

/** Only the file says who may come in; a document that was stored by hand could say it too. */
function tellStoredIdentity({ log }: Host, { text = '', version }: NewestConfiguration): void {
  if (text.includes('"identity"') && holdsIdentity(decodeText(text, 'json')))
    log.warn('the stored configuration has identity, which counts in the configuration file alone', {
      rule: 'WN31',
      version,
    });
}

function sourceOf(
  host: Host,
  file: LoadedFile | undefined,
  { version, mark, text, isStored }: NewestConfiguration,
): StartSource {
  const stored = isStored && text !== undefined ? decodeStored(text) : undefined;
  return { own: file ?? defaultConfig(host), isDefault: file === undefined, stored, newest: { version, text, mark } };
}

/** What is in force from now on, and what of it does nothing. */
export function tellConfiguration(host: Host, more: object = {}): void {
  const { current } = host;
  if (!current) return;
  const source = configSource(host);
  const { config, maxRequestBytes } = current;
  const file = source === 'file' ? host.configFile : undefined;
  if (file)
    host.log.info('config file loaded', {
      path: file.path,
      strategy: config.strategy.mode,
      targets: config.targets.length,
    });
  if (file && config.apiVersion !== 'v1')
    host.log.warn('apiVersion is not v1', { rule: 'WN01', api_version: config.apiVersion });
  const { plugins } = shapeOf(config);
  host.log.info('active config resolved', {
    source,
    strategy: config.strategy.mode,
    targets: config.targets.length,
    plugins: plugins.length,
    max_request_bytes: maxRequestBytes,
    ...(file && { file: file.path }),
    ...more,
  });
  if (plugins.length > 0) host.log.info('plugins loaded', { plugins: plugins.join(', ') });
  warnOfUnregistered(host, config);
  if (file) warnOfOwnSecrets(host, config);
}

/** A file may send a secret of the gateway anywhere: who reads that upstream then holds it. */
function warnOfOwnSecrets({ registry, log }: Host, config: GatewayConfig): void {
  const fields = ownSecretsIn(config, placeModules(registry));
  if (fields.length > 0)
    log.warn('the configuration file refers to secrets of the gateway itself', {
      rule: 'WN34',
      fields: fields.join(', '),
    });
}

/** Enabled plugins, each with its stage. */
function shapeOf(config: GatewayConfig): { readonly plugins: readonly string[] } {
  return {
    plugins: config.plugins.filter(({ enabled }) => enabled).map(({ name, stage }) => `${name} (${stage ?? ''})`),
  };
}

/** A file that says something else than what is stored, or nothing that holds, is not in force, and an edit of it has no effect. */
function tellSuperseded(host: Host, file: LoadedFile): void {
  const { current } = host;
  if (!current) return;
  const problems = checkConfig(host, file);
  if (problems.length > 0 || !file.config) {
    host.log.warn('the stored configuration is in force; the file has problems and is not used', {
      rule: 'WN04',
      file: file.path,
      problems: problems.map(problemLine).join('\n'),
    });
    return;
  }
  if (canonicalJson(file.config) === canonicalJson(current.config)) return;
  const [here, there] = [shapeOf(file.config), shapeOf(current.config)];
  host.log.warn('the stored configuration is in force, and not the file', {
    rule: 'WN04',
    file: file.path,
    file_strategy: file.config.strategy.mode,
    file_targets: file.config.targets.length,
    file_plugins: here.plugins.length,
    store_strategy: current.config.strategy.mode,
    store_targets: current.config.targets.length,
    store_plugins: there.plugins.length,
    plugins_not_running: here.plugins.filter((plugin) => !there.plugins.includes(plugin)).join(', '),
  });
}

/** In production nothing offline registers by itself: without a credential the gateway then starts empty. */
function defaultConfig(host: Host): Decoded {
  const offline = [...host.registry.providers.values()].filter((module) => module.offline).slice(0, 1);
  const fallback = host.settings.isProduction ? [] : offline.map(({ name }) => name);
  const names = host.providers.size > 0 ? [...host.providers.keys()] : fallback;
  const document: DefaultDocument = {
    strategy: { mode: 'fallback' },
    targets: names.map((name) => ({ virtual_key: name })),
    plugins: [],
  };
  host.hooks.defaults.call(document, host);
  return decodeText(JSON.stringify(document), 'json');
}

/** Where the references of an instance stand that have no value. */
const unresolvedOf = (name: string, problems: readonly Problem[]): readonly string[] =>
  problems.filter(({ rule, path }) => rule === 'WN17' && path.startsWith(`providers.${name}.`)).map(({ path }) => path);

function warnOfUnregistered(host: Host, config: GatewayConfig): void {
  const known = (name: string): ProviderModule | undefined => host.registry.providers.get(name);
  const absent = (host.current?.targetList ?? [])
    .filter(({ provider }) => !provider)
    .map(({ virtualKey }) => virtualKey);
  const instances = config.providers ?? {}; // what they need is not a variable of their kind
  const problems = host.current?.warnings ?? [];
  const wanted = (names: readonly string[]): string =>
    names
      .flatMap((name) => {
        if (Object.hasOwn(instances, name)) return unresolvedOf(name, problems);
        const module = known(name);
        return module ? missingVariables(module, host.variables) : [];
      })
      .join(', ');
  if (config.targets.length === 0) {
    const all = [...host.registry.providers.values()].filter(({ offline }) => !offline).map(({ name }) => name);
    host.log.error('no provider is registered, every request will be refused', {
      rule: 'WN02',
      set_one_of: wanted(all),
    });
  } else if (absent.length === config.targets.length) {
    host.log.error('no target has a registered provider, every request will be refused', {
      rule: 'WN02',
      targets: absent.join(', '),
      set: wanted(absent),
    });
  } else if (absent.length > 0) {
    host.log.warn('targets without a registered provider get no traffic', {
      rule: 'WN02',
      targets: absent.join(', '),
      set: wanted(absent),
    });
  }
}
