import { type Catalog, type CatalogEntry, instanceCatalogOf, isInstanceCatalog } from '../../host/common/catalog.ts';
import type { FactSources } from '../../host/common/fact-sources.ts';
import type { ModelRule } from '../../host/common/models/model-rule.ts';
import {
  type Billed,
  BILLED,
  type Cost,
  dearerPrice,
  type ModelFacts,
  type PriceQuestion,
  type TokenPrice,
  type Usage,
} from '../../host/contract/index.ts';
import { costOf, tokenPriceOf } from './cost.ts';
import type { Entries } from './entries.ts';
import { InstanceEntries } from './instance-entries.ts';
import { CatalogIndex, type Chains } from './lookup.ts';
import { NO_RULES, RuleBook, type RuleSet } from './model-rules.ts';
import { type BookLine, PriceBook } from './price-book.ts';
import { inputOf } from './token-classes.ts';

/** What a catalog is read with, beside its entries. */
export interface CatalogParts {
  readonly chains: Chains;
  readonly rules?: RuleSet;
  /** The operator's own entries: those under the name of an instance are that instance's alone. */
  readonly overlay?: unknown;
}

/** One load of the catalog, with an index of its own; a refresh makes another. */
export class ModelCatalog implements Catalog {
  readonly version: string;
  readonly #entries: Entries;
  readonly #chains: Chains;
  readonly #overlay: unknown;
  readonly #index: CatalogIndex;
  readonly #rules: RuleBook;
  readonly #books = new WeakMap<CatalogEntry, PriceBook>();
  /** By the name that asks for them. */
  readonly #instances = new Map<string, InstanceEntries>();

  constructor(entries: Entries, version: string, { chains, rules = NO_RULES, overlay }: CatalogParts) {
    this.version = version;
    this.#entries = entries;
    this.#chains = chains;
    this.#overlay = overlay;
    this.#rules = new RuleBook(rules);
    this.#index = new CatalogIndex(entries, chains);
  }

  readonly entry = (provider: string, model: string): CatalogEntry | undefined =>
    this.#of(provider).entry(provider, model);

  readonly facts = (provider: string, model: string): ModelFacts => this.#rules.facts(provider, model);

  readonly factSources = (provider: string, model: string): FactSources => this.#rules.sources(provider, model);

  get rules(): readonly ModelRule[] {
    return this.#rules.rules;
  }

  /** A catalog of these entries with other rules. */
  withRules(rules: RuleSet): ModelCatalog {
    return new ModelCatalog(this.#entries, this.version, { chains: this.#chains, rules, overlay: this.#overlay });
  }

  modelsOf(provider: string): readonly string[] {
    return this.#of(provider).modelsOf(provider);
  }

  #of(name: string): Pick<CatalogIndex, 'entry' | 'priced' | 'modelsOf'> {
    if (!isInstanceCatalog(name)) return this.#index;
    const known = this.#instances.get(name);
    if (known) return known;
    const entries = new InstanceEntries(this.#index, instanceCatalogOf(name), this.#overlay);
    this.#instances.set(name, entries);
    return entries;
  }

  readonly tokenPrice = (target: string, model: string, asked?: PriceQuestion): TokenPrice | undefined => {
    const entry = this.#of(target).priced(target, model);
    if (!entry) return undefined;
    const book = this.#bookOf(entry);
    if (!asked || !entry.pricing.lines) return tokenPriceOf(entry, book.base.prices, asked);
    return book
      .lines(asked.input, asked)
      .map(({ prices }) => tokenPriceOf(entry, prices, asked))
      .reduce(dearerPrice);
  };

  readonly cost = (target: string, model: string, billed: Billed, at?: number): Cost | undefined => {
    const entry = this.#of(target).priced(target, model);
    if (!entry) return undefined;
    const isDrawn = billed.usage?.[BILLED]?.toolImages !== undefined;
    return costOf(entry, this.#lineOf(entry, billed.usage, at), billed, {
      catalog: this.version,
      ...(isDrawn && { imagesOf: (drawer: string) => this.#of(target).priced(target, drawer)?.pricing }),
    });
  };

  #lineOf(entry: CatalogEntry, usage: Usage | undefined, at: number | undefined): BookLine {
    const book = this.#bookOf(entry);
    if (!entry.pricing.lines) return book.base;
    return book.line(usage ? inputOf(usage) : 0, { ...usage?.[BILLED], at });
  }

  #bookOf(entry: CatalogEntry): PriceBook {
    let book = this.#books.get(entry);
    if (!book) this.#books.set(entry, (book = new PriceBook(entry.pricing)));
    return book;
  }
}
