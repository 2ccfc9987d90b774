import type { Catalog } from '../common/catalog.ts';
import type { ModelFacts } from '../contract/index.ts';

/** Most names whose facts are kept; of more, those that were not asked for the longest leave. */
const MAX_NAMES = 2_000;

/**
 * The facts of models as one generation knows them: merged when a model is first asked for, and looked up from then on. A
 * newer catalog makes another generation.
 */
export class KnownFacts {
  readonly #catalog: Pick<Catalog, 'facts'>;
  readonly #known = new Map<string, ModelFacts>(); // in order of use

  constructor(catalog: Pick<Catalog, 'facts'>) {
    this.#catalog = catalog;
  }

  of(provider: string, model: string): ModelFacts {
    const key = `${provider}/${model}`;
    const known = this.#known.get(key);
    const facts = known ?? this.#catalog.facts(provider, model);
    if (known) this.#known.delete(key);
    this.#known.set(key, facts);
    if (this.#known.size > MAX_NAMES) for (const oldest of this.#known.keys().take(1)) this.#known.delete(oldest);
    return facts;
  }
}
