import type { CatalogEntry } from '../../host/common/catalog.ts';
import type { ProviderModule } from '../../host/contract/index.ts';
import type { Entries } from './entries.ts';

/** Catalog prefixes of providers, in order; every other provider is its own. See docs/catalog.md#which-entry-is-a-targets. */
export type Chains = ReadonlyMap<string, readonly string[]>;

/** The prefixes that modules name. */
export const chainsOf = (modules: Iterable<ProviderModule>): Chains =>
  new Map(Array.from(modules).flatMap(({ name, names }) => (names?.catalog ? [[name, names.catalog] as const] : [])));

/**
 * Finds rows by gateway provider and model: the exact key, then the prefixes of the provider's chain, each exact and then
 * without regard to case. A model is looked up under its provider only, never in all of the catalog
 * (docs/catalog.md#which-entry-is-a-targets).
 */
export class CatalogIndex {
  readonly #entries: Entries;
  readonly #chains: Chains;
  /** Ids by the prefixes that were asked for, with the entries of those that were. */
  readonly #ids = new Map<string, Map<string, CatalogEntry | undefined>>();
  /** Ids by their lower case, of the prefixes that were asked for; of two that differ in case only, the first sorted. */
  readonly #folded = new Map<string, ReadonlyMap<string, string>>();
  readonly #models = new Map<string, readonly string[]>();

  constructor(entries: Entries, chains: Chains) {
    this.#entries = entries;
    this.#chains = chains;
  }

  entry(provider: string, model: string): CatalogEntry | undefined {
    const exact = this.#exact(provider, model);
    if (exact) return exact;
    for (const prefix of this.#chains.get(provider) ?? []) {
      const found = this.#under(prefix, model);
      if (found) return found;
    }
    return undefined;
  }

  /** The row that prices a model: a chat row without an input price yields to one of a later prefix. */
  priced(provider: string, model: string): CatalogEntry | undefined {
    const exact = this.#exact(provider, model);
    if (exact && isPriced(exact)) return exact;
    let unpriced = exact;
    for (const prefix of this.#prefixesAfter(provider, exact !== undefined)) {
      const found = this.#under(prefix, model);
      if (found && isPriced(found)) return found;
      unpriced ??= found;
    }
    return unpriced;
  }

  /** Sorted ids over the provider's chain, deprecated ones included. */
  modelsOf(provider: string): readonly string[] {
    const known = this.#models.get(provider);
    if (known) return known;
    const ids = (this.#chains.get(provider) ?? [provider]).flatMap((prefix) => [...this.#idsOf(prefix).keys()]);
    const models = Object.freeze([...new Set(ids)].toSorted());
    if (models.length > 0) this.#models.set(provider, models);
    return models;
  }

  /** A chain as a whole; after an exact row that belongs to it, what comes later in it. */
  #prefixesAfter(provider: string, hasExact: boolean): readonly string[] {
    const chain =
      this.#chains.get(provider) ??
      (hasExact ? [...this.#chains.values()].find((prefixes) => prefixes.includes(provider)) : undefined) ??
      [];
    return hasExact ? chain.slice(chain.indexOf(provider) + 1) : chain;
  }

  #exact(prefix: string, id: string): CatalogEntry | undefined {
    const ids = this.#idsOf(prefix);
    const known = ids.get(id);
    if (known || !ids.has(id)) return known;
    const entry = this.#entries.get(`${prefix}/${id}`);
    ids.set(id, entry);
    return entry;
  }

  #under(prefix: string, model: string): CatalogEntry | undefined {
    const exact = this.#exact(prefix, model);
    if (exact) return exact;
    const id = this.#foldedOf(prefix).get(model.toLowerCase());
    return id === undefined ? undefined : this.#exact(prefix, id);
  }

  #idsOf(prefix: string): Map<string, CatalogEntry | undefined> {
    let ids = this.#ids.get(prefix);
    if (!ids) {
      ids = new Map(Array.from(this.#entries.idsOf(prefix), (id) => [id, undefined]));
      this.#ids.set(prefix, ids);
    }
    return ids;
  }

  #foldedOf(prefix: string): ReadonlyMap<string, string> {
    let folded = this.#folded.get(prefix);
    if (!folded) {
      folded = new Map(
        [...this.#idsOf(prefix).keys()]
          .toSorted()
          .toReversed()
          .map((id) => [id.toLowerCase(), id]),
      );
      this.#folded.set(prefix, folded);
    }
    return folded;
  }
}

const isPriced = ({ mode, pricing }: CatalogEntry): boolean => mode !== 'chat' || pricing.input_per_m_tokens !== null;
