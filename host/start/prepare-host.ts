import type { LoadedFile } from '../config/load.ts';
import { registeredNames } from '../generation/registered-names.ts';
import type { Host } from '../host.ts';
import { applyStartConfiguration } from './configuration.ts';
import { takeIdentity } from './take-identity.ts';
import { makeDataFolder } from './make-data-folder.ts';
import { connectProviders, loadStoredModules, refuseProblems, StartRefused } from './steps.ts';

/** What one way to start does otherwise than another. */
export interface Preparation {
  /** Reads the configuration to begin with, and the modules beside it. */
  readonly load: () => Promise<LoadedFile | undefined>;
  /** Sees to the key that opens everything, before any credential is supplied. */
  readonly provideKey: (file: LoadedFile | undefined) => void;
}

/**
 * Everything that a start does before it listens: configuration, stores, providers, what applies. False where the host was asked to end
 * meanwhile. On a failure the caller closes the host.
 */
export async function prepareHost(host: Host, { load, provideKey }: Preparation): Promise<boolean> {
  tellSettings(host);
  const file = await load();
  refuseProblems(host, file);
  if (file) takeIdentity(host, file);
  let taken: ReadonlySet<string> = new Set();
  const steps = [
    async () => provideKey(file),
    () => makeDataFolder(host),
    () => host.hooks.open.promise(host),
    async () => {
      taken = await loadStoredModules(host, file);
    },
    () => connectProviders(host, taken), // those of stored modules too
    () => applyStartConfiguration(host, file),
  ];
  for (const step of steps) {
    if (host.isDraining) return false;
    await step();
  }
  return !host.isDraining;
}

/** Throws for variables that cannot be used, with all that is wrong. */
export function refuseUnusable({ notes }: Host['settings']): void {
  const fatal = notes.filter(({ level }) => level === 'fatal').map(({ message }) => message);
  if (fatal.length > 0) throw new StartRefused(fatal.join('; '));
}

function tellSettings({ settings, log }: Host): void {
  for (const { level, message, rule } of settings.notes)
    if (level === 'warn') log.warn(message, rule === undefined ? {} : { rule });
  refuseUnusable(settings);
  if (settings.rateLimit)
    log.info('rate limiting enabled', {
      rps: settings.rateLimit.ratePerSecond,
      burst: settings.rateLimit.burst,
      max_keys: 100_000,
    });
  if (settings.corsOrigins.length === 0) log.info('CORS_ORIGINS is not set: no origin may call from a browser');
}

/** The line that says that a gateway is up; `where` is what it is reached by. */
export function tellStarted(host: Host, where: object): void {
  if (host.settings.isProduction && host.stores.keys.backend === 'memory') {
    host.log.warn('no durable key store is configured: MASTER_KEY is the only credential that survives a restart', {
      rule: 'WN06',
    });
  }
  host.log.info('gw started', {
    version: host.build.version,
    ...where,
    providers: [...registeredNames(host)].join(', '),
    config_store: host.stores.configuration.backend,
    api_key_store: host.stores.keys.backend,
    request_log_store: host.stores.requestLog.backend,
    audit_store: host.stores.audit.backend,
    ...(host.settings.dataFolder !== undefined && { data_dir: host.settings.dataFolder }),
  });
}
