import type { ConfigWatch } from '../config/watch.ts';
import type { Host } from '../host.ts';
import { drainHost } from './drain-host.ts';
import { provideMasterKey } from './master-key.ts';
import { type Beside, type Listeners, openListeners, shownListener } from './open-listeners.ts';
import { prepareHost, tellStarted } from './prepare-host.ts';
import { loadFile, warnOfUnreadFiles } from './steps.ts';
import { watchConfiguration } from './watch-configuration.ts';

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
    let hasNewKey = false;
    const isPrepared = await prepareHost(host, {
      load: () => {
        warnOfUnreadFiles(host);
        return loadFile(host, host.settings.configPath);
      },
      provideKey: (file) => {
        hasNewKey = provideMasterKey(host, file);
      },
    });
    if (!isPrepared) return await endStart(host);
    const { listeners, beside } = await listenerOf(host);
    const watch = await watchConfiguration(host);
    tellStarted(host, addressesOf(host, listeners));
    const { port, adminPort } = listeners;
    return { port, adminPort, hasNewKey, stop: () => shutDown(host, { listeners, watch, beside }) };
  } catch (error) {
    if (host.isDraining) return await endStart(host, error); // who stopped the start expects no failure
    await host.close();
    throw error;
  }
}

/** What listens for clients: this process, or its workers. */
async function listenerOf(host: Host): Promise<{ readonly listeners: Listeners; readonly beside?: Beside }> {
  const { team, settings, platform, log } = host;
  if (platform.os === 'win32' && settings.workers !== 1)
    log.warn('GW_WORKERS has no effect on Windows: one process serves', { rule: 'WN88' });
  if (team?.role !== 'primary') return { listeners: await openListeners(host) };
  const { openPrimaryListeners } = await import('./primary-listeners.ts');
  return openPrimaryListeners(host, team);
}

/** `error` is why the step that was under way failed, if it did. */
async function endStart(host: Host, error?: unknown): Promise<undefined> {
  await host.close();
  host.log.info('gw stopped before it had started', error === undefined ? {} : { error });
}

function addressesOf({ settings }: Host, { port, adminPort }: Listeners): object {
  const { address, admin } = settings.listeners;
  return {
    addr: shownListener(address, port),
    ...(admin && adminPort !== undefined && { admin_addr: shownListener(admin.address, adminPort) }),
  };
}

/** What is ended with a gateway. */
export interface Ending {
  readonly listeners: Listeners;
  readonly watch?: ConfigWatch | undefined;
  readonly beside?: Beside | undefined;
}

/** The listener stays open while requests drain, so that probes are answered. */
export async function shutDown(host: Host, { listeners, watch, beside }: Ending): Promise<void> {
  const { drainDelayMs: delayMs, shutdownTimeoutMs: timeoutMs } = host.settings;
  await drainHost(host, { delayMs, timeoutMs, drainFirst: beside?.drain });
  listeners.close();
  beside?.close();
  host.applier.close(); // stopping the watch waits for a change that is being applied
  await watch?.stop();
  await host.close();
  host.log.info('gw stopped');
}
