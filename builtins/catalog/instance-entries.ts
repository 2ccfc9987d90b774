import type { CatalogEntry } from '../../host/common/catalog.ts';
import { isFields } from '../../host/contract/index.ts';
import { type EntryMap, readEntries } from './entries.ts';
import type { CatalogIndex } from './lookup.ts';

interface Named {
  readonly instance: string;
  /** Empty where only the operator's own entries count. */
  readonly catalog: string;
}

/**
 * The entries of one instance of `providers`: what the operator's file says under its name is laid over what the catalog has
 * under the other, field by field. An entry of the catalog that happens to begin with the instance's name is another's.
 */
export class InstanceEntries {
  readonly #index: CatalogIndex;
  readonly #named: Named;
  /** By model. */
  readonly #own: ReadonlyMap<string, unknown>;
  readonly #laid = { entry: new Map<string, CatalogEntry>(), priced: new Map<string, CatalogEntry>() };
  #models: readonly string[] | undefined;

  constructor(index: CatalogIndex, named: Named, overlay: unknown) {
    this.#index = index;
    this.#named = named;
    this.#own = ownOf(overlay, `${named.instance}/`);
  }

  entry(_name: string, model: string): CatalogEntry | undefined {
    return this.#over('entry', model);
  }

  priced(_name: string, model: string): CatalogEntry | undefined {
    return this.#over('priced', model);
  }

  modelsOf(): readonly string[] {
    const { catalog } = this.#named;
    const known = (): readonly string[] => (catalog === '' ? [] : this.#index.modelsOf(catalog));
    return (this.#models ??=
      this.#own.size === 0 ? known() : Object.freeze([...new Set([...this.#own.keys(), ...known()])].toSorted()));
  }

  #over(which: 'entry' | 'priced', model: string): CatalogEntry | undefined {
    const { instance, catalog } = this.#named;
    const laid = this.#laid[which].get(model);
    if (laid) return laid;
    const base = catalog === '' ? undefined : this.#index[which](catalog, model);
    if (!this.#own.has(model)) return base;
    const key = `${instance}/${model}`;
    const under: EntryMap = new Map(base && [[key, { ...base, provider: instance, model_id: model }]]);
    const entry = readEntries({ [key]: this.#own.get(model) }, under).entries.get(key);
    if (entry) this.#laid[which].set(model, entry); // as many as the file has
    return entry;
  }
}

/** Entries of the file that can be read, by what follows the prefix in their keys. */
function ownOf(overlay: unknown, prefix: string): ReadonlyMap<string, unknown> {
  if (!isFields(overlay)) return new Map();
  const own = Object.keys(overlay).filter((key) => key.startsWith(prefix));
  const { entries } = readEntries(Object.fromEntries(own.map((key) => [key, overlay[key]])));
  return new Map([...entries.keys()].map((key) => [key.slice(prefix.length), overlay[key]]));
}
