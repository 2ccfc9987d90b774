import { errorMessage } from '../../host/common/error-message.ts';
import { resolve } from 'node:path';
import type { Catalog } from '../../host/common/catalog.ts';
import type { Timer } from '../../host/common/clock.ts';
import type { OfflineHost } from '../../host/generation/offline.ts';
import { shownAddress, withShownAddresses } from './address.ts';
import { readEntries } from './entries.ts';
import { type Chains, chainsOf } from './lookup.ts';
import { loadCatalog, type LoadedCatalog, loadShipped, readOverlay } from './load.ts';
import { NO_RULES, type RuleSet } from './model-rules.ts';
import { type CatalogSettings, readCatalogSettings } from './settings.ts';

const REFRESH_MS = 24 * 60 * 60 * 1000;
const TOLD_AT_MOST = 10;

/** How a remote catalog is asked for, and what follows a newer one. */
export interface RemoteUse {
  readonly userAgent: string;
  readonly onNewCatalog: () => Promise<void>;
}

interface RemoteCatalog extends RemoteUse {
  readonly url: string;
  readonly timeoutMs: number;
}

/** Loads what ships with this build. What it gives is never changed, so that hosts of one process may share it. */
export type LoadShipped = (overlay: unknown, chains: Chains) => Promise<LoadedCatalog>;

/** Loads the catalog of one host and keeps it fresh. Whatever fails, the last good one stays in force. */
export class CatalogKeeper {
  readonly #host: OfflineHost;
  readonly #loadShipped: LoadShipped;
  readonly #closing = new AbortController();
  #overlay: unknown;
  /** Those of this build, whatever catalog is in force. */
  #rules: RuleSet = NO_RULES;
  #timer: Timer | undefined;
  #fetching: Promise<void> | undefined;

  constructor(host: OfflineHost, load: LoadShipped = loadShipped) {
    this.#host = host;
    this.#loadShipped = load;
  }

  /** Prefixes that the modules name, those of third parties too: they are all registered by the time a catalog is loaded. */
  get #chains(): Chains {
    return chainsOf(this.#host.registry.providers.values());
  }

  get catalog(): Catalog {
    return this.#host.services.catalog;
  }

  /** Puts the shipped catalog in force. A remote one is fetched afterwards: nothing waits for it. */
  async open(remote: RemoteUse): Promise<void> {
    const settings = readCatalogSettings(this.#host.variables);
    for (const warning of settings.warnings) this.#host.services.log.warn(warning, { rule: 'WN16' });
    await this.#load(settings);
    if (settings.url !== undefined) this.#refresh({ ...remote, url: settings.url, timeoutMs: settings.timeoutMs });
  }

  /** Loads what this machine has: nothing is fetched, then or later. */
  async openOffline(): Promise<void> {
    await this.#load(readCatalogSettings(this.#host.variables));
  }

  async #load({ overlayPath }: CatalogSettings): Promise<void> {
    if (overlayPath !== undefined) await this.#openOverlay(resolve(this.#host.workingDirectory, overlayPath));
    await this.#useBundle();
  }

  /** Ends a fetch under way and the waiting for the next. */
  async close(): Promise<void> {
    this.#timer?.cancel();
    this.#closing.abort(new Error('the gateway is shutting down'));
    await this.#fetching;
  }

  async #openOverlay(path: string): Promise<void> {
    const { log } = this.#host.services;
    try {
      const overlay = await readOverlay(path);
      const { entries, malformed, ignored } = readEntries(overlay);
      this.#overlay = overlay;
      const wrong = [...malformed, ...ignored];
      if (wrong.length > 0)
        log.error('the model catalog overlay has values that are not used', {
          path,
          count: wrong.length,
          values: firstOf(wrong),
        });
      log.info('model catalog overlay loaded', { path, models: entries.size });
    } catch (error) {
      log.error('the model catalog overlay is not used', { path, error });
    }
  }

  async #useBundle(): Promise<void> {
    const { log, counters } = this.#host.services;
    try {
      const shipped = await this.#loadShipped(this.#overlay, this.#chains);
      this.#rules = shipped.rules;
      this.#use(shipped, { source: 'bundle' });
      counters.add('gateway_catalog_loads_total', { source: 'fallback', result: 'success' });
    } catch (error) {
      log.error('the shipped model catalog cannot be read: models are not described and not priced', { error });
      counters.add('gateway_catalog_loads_total', { source: 'fallback', result: 'error' });
    }
  }

  #use({ catalog, entries, malformed, ignored }: LoadedCatalog, from: Readonly<Record<string, string>>): void {
    this.#host.services.catalog = catalog;
    this.#host.services.log.info('model catalog loaded', {
      ...from,
      version: catalog.version,
      models: entries.size,
      skipped: malformed.length,
      ignored_fields: ignored.length,
    });
  }

  /** Fetches now and every day from now. */
  #refresh(remote: RemoteCatalog): void {
    const { clock, counters, log } = this.#host.services;
    this.#timer = clock.timer(REFRESH_MS, () => this.#refresh(remote));
    this.#fetching = this.#fetch(remote).catch((error: unknown) => {
      if (this.#closing.signal.aborted) return;
      counters.add('gateway_catalog_loads_total', { source: 'remote', result: 'error' });
      log.warn('the remote model catalog is not used; the current one stays', {
        url: shownAddress(remote.url),
        version: this.catalog.version,
        error: reasonOf(error),
      });
    });
  }

  async #fetch({ url, timeoutMs, userAgent, onNewCatalog }: RemoteCatalog): Promise<void> {
    const {
      variables,
      services: { counters, log },
    } = this.#host;
    const call = this.#bounded(timeoutMs);
    let text: string;
    try {
      const { fetchCatalog } = await import('./fetch.ts'); // most gateways never fetch one
      text = await fetchCatalog({ url, variables, userAgent, signal: call.signal });
    } finally {
      call.end();
    }
    const loaded = loadCatalog(text, this.#overlay, { chains: this.#chains, rules: this.#rules });
    if (this.#closing.signal.aborted) return;
    counters.add('gateway_catalog_loads_total', { source: 'remote', result: 'success' });
    if (loaded.catalog.version === this.catalog.version) return;
    this.#use(loaded, { source: 'remote', url: shownAddress(url) });
    await onNewCatalog().catch((error: unknown) =>
      log.error('the configuration could not be rebuilt for the new model catalog', { error }),
    );
  }

  /** A signal that fires after the time, or when the gateway closes. */
  #bounded(timeoutMs: number): { readonly signal: AbortSignal; end(): void } {
    const call = new AbortController();
    const closing = this.#closing.signal;
    const stop = (): void => call.abort(closing.reason);
    const timer = this.#host.services.clock.timer(timeoutMs, () =>
      call.abort(new Error(`no whole answer within ${timeoutMs} ms`)),
    );
    closing.addEventListener('abort', stop);
    return {
      signal: call.signal,
      end: () => {
        timer.cancel();
        closing.removeEventListener('abort', stop);
      },
    };
  }
}

function firstOf(values: readonly string[]): string {
  const shown = values.slice(0, TOLD_AT_MOST).join('; ');
  return values.length > TOLD_AT_MOST ? `${shown}; and ${values.length - TOLD_AT_MOST} more` : shown;
}

/** An error as one line, without the secrets that addresses in it may hold. */
function reasonOf(error: unknown): string {
  return withShownAddresses(errorMessage(error));
}
