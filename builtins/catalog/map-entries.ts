import type { CatalogEntry } from '../../host/common/catalog.ts';
import type { Entries, EntryMap } from './entries.ts';

/** Entries that have been read, all of them, by provider. */
export class MapEntries implements Entries {
  readonly #entries: EntryMap;
  readonly #ids = new Map<string, string[]>();

  constructor(entries: EntryMap) {
    this.#entries = entries;
    for (const { provider, model_id } of entries.values()) {
      const known = this.#ids.get(provider);
      if (known) known.push(model_id);
      else this.#ids.set(provider, [model_id]);
    }
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): CatalogEntry | undefined {
    return this.#entries.get(key);
  }

  idsOf(provider: string): Iterable<string> {
    return this.#ids.get(provider) ?? [];
  }
}
