import { resolve } from 'node:path';
import type { Catalog } from '../../host/common/catalog.ts';
import type { OfflineHost } from '../../host/generation/offline.ts';
import { type Hints, NO_HINTS } from '../../host/stores/replicas/hints.ts';
import { shownAddress } from './address.ts';
import { DailyFetch } from './daily-fetch.ts';
import { readEntries } from './entries.ts';
import { type Chains, chainsOf } from './lookup.ts';
import { loadCatalog, type LoadedCatalog, loadShipped, readOverlay } from './load.ts';
import type { ModelCatalog } from './model-catalog.ts';
import { RuleLayers } from './rule-layers.ts';
import { type CatalogSettings, readCatalogSettings } from './settings.ts';

/** Largest files that are fetched. See docs/catalog.md#a-newer-catalog and docs/catalog.md#newer-rules-and-rules-of-your-own. */
const MAX_CATALOG_BYTES = 8 * 1024 * 1024;
const MAX_RULES_BYTES = 1024 * 1024;
const TOLD_AT_MOST = 10;
/** A version that another replica names makes this one fetch once in so long: where the address serves several versions in turn, replicas would set each other off without end. */
const SAME_HINT_MS = 10 * 60 * 1000;

/** How remote files are asked for, and what follows newer ones. */
export interface RemoteUse {
  readonly userAgent: string;
  readonly onNewCatalog: () => Promise<void>;
}

/** Loads what ships with this build. What it gives is never changed, so that hosts of one process may share it. */
export type LoadShipped = (overlay: unknown, chains: Chains) => Promise<LoadedCatalog>;

/** Loads the catalog and the rules of models of one host, and keeps them fresh. Whatever fails, the last good ones stay in force. */
export class CatalogKeeper {
  readonly #host: OfflineHost;
  readonly #loadShipped: LoadShipped;
  readonly #rules: RuleLayers;
  readonly #fetches: DailyFetch[] = [];
  #ofCatalog: DailyFetch | undefined;
  #hints: Hints = NO_HINTS;
  #isFetched = false;
  /** Versions that others named, by when this one last fetched for them, in monotonic milliseconds. */
  readonly #fetchedFor = new Map<string, number>();
  #overlay: unknown;
  #current: ModelCatalog | undefined;

  constructor(host: OfflineHost, load: LoadShipped = loadShipped) {
    this.#host = host;
    this.#loadShipped = load;
    this.#rules = new RuleLayers(host.services.log);
  }

  /** Prefixes that the modules name, those of third parties too: they are all registered by the time a catalog is loaded. */
  get #chains(): Chains {
    return chainsOf(this.#host.registry.providers.values());
  }

  get catalog(): Catalog {
    return this.#host.services.catalog;
  }

  /** Puts what is shipped in force. Remote files are fetched afterwards: nothing waits for them. */
  async open(remote: RemoteUse): Promise<void> {
    const settings = readCatalogSettings(this.#host.variables);
    for (const warning of settings.warnings) this.#host.services.log.warn(warning, { rule: 'WN16' });
    await this.#load(settings);
    const { url, rulesUrl, timeoutMs } = settings;
    if (url !== undefined) this.#fetchCatalog(url, timeoutMs, remote);
    if (rulesUrl !== undefined) this.#fetchRules(rulesUrl, timeoutMs, remote);
  }

  /** Replicas that fetched another catalog make this one fetch as well: all are to reckon with the same prices. */
  listen(hints: Hints): void {
    this.#hints = hints;
    hints.on('catalog', (version) => void this.#compare(version));
    if (this.#isFetched) this.#hint();
  }

  async #compare(other: string): Promise<void> {
    const differs = (): boolean => other !== this.catalog.version;
    await this.#ofCatalog?.again(() => differs() && this.#isNews(other));
    if (differs()) this.#host.services.log.warn('catalogs differ', { version: this.catalog.version, other });
  }

  #isNews(version: string): boolean {
    const now = this.#host.services.clock.monotonic();
    for (const [known, at] of this.#fetchedFor) if (now - at >= SAME_HINT_MS) this.#fetchedFor.delete(known);
    if (this.#fetchedFor.has(version)) return false;
    this.#fetchedFor.set(version, now);
    return true;
  }

  /** Loads what this machine has: nothing is fetched, then or later. */
  async openOffline(): Promise<void> {
    await this.#load(readCatalogSettings(this.#host.variables));
  }

  async #load({ overlayPath, rulesPath }: CatalogSettings): Promise<void> {
    if (overlayPath !== undefined) await this.#openOverlay(resolve(this.#host.workingDirectory, overlayPath));
    if (rulesPath !== undefined) await this.#rules.open(resolve(this.#host.workingDirectory, rulesPath));
    await this.#useBundle();
  }

  /** Ends fetches under way and the waiting for the next. */
  async close(): Promise<void> {
    await Promise.all(this.#fetches.map((fetch) => fetch.close()));
  }

  async #openOverlay(path: string): Promise<void> {
    const { log } = this.#host.services;
    try {
      const overlay = await readOverlay(path);
      const { entries, malformed, ignored, doubled } = readEntries(overlay);
      this.#overlay = overlay;
      const wrong = [...malformed, ...ignored];
      if (wrong.length > 0)
        log.error('the model catalog overlay has values that are not used', {
          path,
          count: wrong.length,
          values: firstOf(wrong),
        });
      this.#tellDoubled(doubled, { path });
      log.info('model catalog overlay loaded', { path, models: entries.size });
    } catch (error) {
      log.error('the model catalog overlay is not used', { path, error });
    }
  }

  async #useBundle(): Promise<void> {
    const { log, counters } = this.#host.services;
    try {
      const shipped = await this.#loadShipped(this.#overlay, this.#chains);
      this.#rules.ship(shipped.rules);
      this.#use(shipped, { source: 'bundle' });
      if (this.#rules.hasMore) this.#put(shipped.catalog.withRules(this.#rules.all));
      counters.add('gateway_catalog_loads_total', { source: 'fallback', result: 'success' });
    } catch (error) {
      log.error('the shipped model catalog cannot be read: models are not described and not priced', { error });
      counters.add('gateway_catalog_loads_total', { source: 'fallback', result: 'error' });
    }
  }

  #put(catalog: ModelCatalog): void {
    this.#current = catalog;
    this.#host.services.catalog = catalog;
  }

  #use({ catalog, entries, malformed, ignored, doubled }: LoadedCatalog, from: Readonly<Record<string, string>>): void {
    this.#put(catalog);
    this.#host.services.log.info('model catalog loaded', {
      ...from,
      version: catalog.version,
      models: entries.size,
      skipped: malformed.length,
      ignored_fields: ignored.length,
    });
    this.#tellDoubled(doubled, from);
  }

  #tellDoubled(doubled: readonly string[], from: Readonly<Record<string, string>>): void {
    if (doubled.length > 0)
      this.#host.services.log.warn(
        'the model catalog has lines with the condition of an earlier one; the later ones count',
        {
          ...from,
          count: doubled.length,
          values: firstOf(doubled),
        },
      );
  }

  #fetchCatalog(url: string, timeoutMs: number, remote: RemoteUse): void {
    const { counters } = this.#host.services;
    const fetch = new DailyFetch({
      host: this.#host,
      url,
      timeoutMs,
      maxBytes: MAX_CATALOG_BYTES,
      userAgent: remote.userAgent,
      use: async (text) => {
        const loaded = loadCatalog(text, this.#overlay, { chains: this.#chains, rules: this.#rules.all });
        if (fetch.isClosing) return;
        counters.add('gateway_catalog_loads_total', { source: 'remote', result: 'success' });
        if (loaded.catalog.version === this.catalog.version) return;
        this.#use(loaded, { source: 'remote', url: shownAddress(url) });
        this.#isFetched = true;
        this.#hint();
        await this.#rebuild(remote, 'model catalog');
      },
      failed: {
        message: 'the remote model catalog is not used; the current one stays',
        more: () => {
          counters.add('gateway_catalog_loads_total', { source: 'remote', result: 'error' });
          return { version: this.catalog.version };
        },
      },
    });
    this.#ofCatalog = fetch;
    this.#fetches.push(fetch);
  }

  #hint(): void {
    this.#hints.send('catalog', this.catalog.version);
  }

  #fetchRules(url: string, timeoutMs: number, remote: RemoteUse): void {
    const fetch = new DailyFetch({
      host: this.#host,
      url,
      timeoutMs,
      maxBytes: MAX_RULES_BYTES,
      userAgent: remote.userAgent,
      use: async (text) => {
        if (fetch.isClosing || !this.#rules.take(text, { url: shownAddress(url) }) || !this.#current) return;
        this.#put(this.#current.withRules(this.#rules.all));
        await this.#rebuild(remote, 'rules of models');
      },
      failed: { message: 'the remote model rules are not used; the current ones stay', more: () => ({}) },
    });
    this.#fetches.push(fetch);
  }

  async #rebuild({ onNewCatalog }: RemoteUse, what: string): Promise<void> {
    await onNewCatalog().catch((error: unknown) =>
      this.#host.services.log.error(`the configuration could not be rebuilt for the new ${what}`, { error }),
    );
  }
}

function firstOf(values: readonly string[]): string {
  const shown = values.slice(0, TOLD_AT_MOST).join('; ');
  return values.length > TOLD_AT_MOST ? `${shown}; and ${values.length - TOLD_AT_MOST} more` : shown;
}
