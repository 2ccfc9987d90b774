import type { Clock } from '../common/clock.ts';
import type { ConfigWatch } from '../config/watch.ts';
import { GatewayError } from '../contract/index.ts';
import type { Host } from '../host.ts';
import { registeredNames } from '../generation/registered-names.ts';
import { provideMasterKey } from './master-key.ts';
import { applyStartConfiguration } from './configuration.ts';
import { type Listeners, openListeners, shownListener } from './open-listeners.ts';
import {
  connectProviders,
  loadFile,
  loadStoredModules,
  refuseProblems,
  StartRefused,
  warnOfUnreadFiles,
} from './steps.ts';
import { watchConfiguration } from './watch-configuration.ts';

/** What is left after the shutdown deadline gets this long to write its last event. */
const LAST_WORDS_MS = 5000;

export interface RunningGateway {
  readonly port: number;
  /** Port of the control plane, where it has a listener of its own. */
  readonly adminPort: number | undefined;
  readonly hasNewKey: boolean;
  /** Drains and closes; resolves when the process may exit. */
  stop(): Promise<void>;
}

/**
 * Brings a host up: configuration, providers, key, routes, listener. On any failure everything is closed again, and so it is,
 * with `undefined`, when the process is asked to stop before it listens.
 */
export async function startGateway(host: Host): Promise<RunningGateway | undefined> {
  try {
    tellSettings(host);
    warnOfUnreadFiles(host);
    const file = await loadFile(host, host.settings.configPath);
    refuseProblems(host, file);
    if (file) host.identity.take(file, file.path);
    let hasNewKey = false;
    let taken: ReadonlySet<string> = new Set();
    const steps = [
      async () => {
        hasNewKey = provideMasterKey(host, file);
      }, // before the environment's keys are supplied
      () => host.hooks.open.promise(host),
      async () => {
        taken = await loadStoredModules(host, file);
      },
      () => connectProviders(host, taken), // those of stored modules too
      () => applyStartConfiguration(host, file),
    ];
    for (const step of steps) {
      if (host.isDraining) return await endStart(host);
      await step();
    }
    if (host.isDraining) return await endStart(host);
    const listeners = await openListeners(host);
    const watch = await watchConfiguration(host);
    tellStarted(host, listeners);
    const { port, adminPort } = listeners;
    return { port, adminPort, hasNewKey, stop: () => shutDown(host, listeners, watch) };
  } catch (error) {
    if (host.isDraining) return await endStart(host, error); // who stopped the start expects no failure
    await host.close();
    throw error;
  }
}

/** `error` is why the step that was under way failed, if it did. */
async function endStart(host: Host, error?: unknown): Promise<undefined> {
  await host.close();
  host.log.info('gw stopped before it had started', error === undefined ? {} : { error });
}

function tellSettings({ settings, log }: Host): void {
  for (const { level, message, rule } of settings.notes)
    if (level === 'warn') log.warn(message, rule === undefined ? {} : { rule });
  const fatal = settings.notes.filter(({ level }) => level === 'fatal').map(({ message }) => message);
  if (fatal.length > 0) throw new StartRefused(fatal.join('; '));
  if (settings.rateLimit)
    log.info('rate limiting enabled', {
      rps: settings.rateLimit.ratePerSecond,
      burst: settings.rateLimit.burst,
      max_keys: 100_000,
    });
  if (settings.corsOrigins.length === 0) log.info('CORS_ORIGINS is not set: no origin may call from a browser');
}

function tellStarted(host: Host, { port, adminPort }: Listeners): void {
  const { address, admin } = host.settings.listeners;
  if (host.settings.isProduction && host.stores.keys.backend === 'memory') {
    host.log.warn('no durable key store is configured: MASTER_KEY is the only credential that survives a restart', {
      rule: 'WN06',
    });
  }
  host.log.info('gw started', {
    version: host.build.version,
    addr: shownListener(address, port),
    ...(admin && adminPort !== undefined && { admin_addr: shownListener(admin.address, adminPort) }),
    providers: [...registeredNames(host)].join(', '),
    config_store: host.stores.configuration.backend,
    api_key_store: host.stores.keys.backend,
    request_log_store: host.stores.requestLog.backend,
    audit_store: host.stores.audit.backend,
  });
}

/**
 * Readiness turns 503 at once; requests are served as before until load balancers have noticed. The listener stays open, so
 * that probes are answered while requests drain. What is left at the deadline ends with an error event. See docs/reference/server.md#the-end-of-a-process.
 */
async function shutDown(host: Host, listeners: Listeners, watch: ConfigWatch | undefined): Promise<void> {
  const {
    settings: { shutdownTimeoutMs, drainDelayMs },
    services: { clock, closing },
    log,
  } = host;
  host.isLeaving = true;
  log.info('draining', { requests: host.activity.count, delay_ms: drainDelayMs, timeout_ms: shutdownTimeoutMs });
  if (drainDelayMs > 0 && !host.isDraining) await elapsed(clock, drainDelayMs);
  host.isDraining = true;
  closing.endWithin(shutdownTimeoutMs);
  await idleWithin(host, shutdownTimeoutMs);
  if (host.activity.count > 0) {
    log.warn('ending what did not drain', { requests: host.activity.count });
    host.slot.endAll(new GatewayError('upstream_unavailable', 'the gateway is shutting down'));
    await idleWithin(host, LAST_WORDS_MS);
  }
  listeners.close();
  host.applier.close(); // stopping the watch waits for a change that is being applied
  await watch?.stop();
  await host.close();
  log.info('gw stopped');
}

const elapsed = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.timer(ms, resolve);
  });

async function idleWithin({ activity, services: { clock } }: Host, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = clock.timer(ms, resolve);
  await Promise.race([activity.idle(), promise]);
  timer.cancel();
}
