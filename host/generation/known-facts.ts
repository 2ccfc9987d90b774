import type { Catalog } from '../common/catalog.ts';
import { changedFacts, readFacts } from '../common/fact-keys.ts';
import { matchesGlob } from '../common/model-glob.ts';
import { bareModelName } from '../common/model-name.ts';
import type { TargetConfig } from '../config/document.ts';
import { type ModelFacts, NO_FACTS } from '../contract/index.ts';

/** Most names whose facts are kept; of more, those that were not asked for the longest leave. */
const MAX_NAMES = 2_000;

type Configured = NonNullable<TargetConfig['model_facts']>[number];

/** A target as far as it decides about facts. */
export interface FactsTarget {
  readonly config: Pick<TargetConfig, 'virtual_key' | 'model_facts'>;
  readonly catalogProvider: string;
}

/**
 * The facts of models as one generation knows them: those of the rules, and over them what the target's configuration
 * says. They are merged when a model is first asked for, and looked up from then on. A newer catalog makes another generation.
 */
export class KnownFacts {
  readonly #catalog: Pick<Catalog, 'facts'>;
  readonly #known = new Map<string, ModelFacts>(); // in order of use

  constructor(catalog: Pick<Catalog, 'facts'>) {
    this.#catalog = catalog;
  }

  of(target: FactsTarget, model: string): ModelFacts {
    const key = `${target.config.virtual_key}/${model}`;
    const known = this.#known.get(key);
    const facts = known ?? this.#merged(target, model);
    if (known) this.#known.delete(key);
    this.#known.set(key, facts);
    if (this.#known.size > MAX_NAMES) for (const oldest of this.#known.keys().take(1)) this.#known.delete(oldest);
    return facts;
  }

  #merged({ config, catalogProvider }: FactsTarget, model: string): ModelFacts {
    return configuredFor(config, model).reduce(
      (facts, { as, set }) => {
        const [provider, name] = as ? splitName(as) : ['', ''];
        const taken = changedFacts(facts, as ? this.#catalog.facts(provider, name) : NO_FACTS);
        return changedFacts(taken, set ? readFacts(set).facts : NO_FACTS);
      },
      this.#catalog.facts(catalogProvider, model),
    );
  }
}

/** What the configuration of a target says of a model, whose name may be written as patterns know it or as it is. */
function configuredFor({ model_facts: configured = [] }: FactsTarget['config'], model: string): readonly Configured[] {
  return configured.filter(({ models = [] }) =>
    models.some((glob) => matchesGlob(glob, model) || matchesGlob(glob, bareModelName(model))),
  );
}

/** The model that describes this one by the word of the configuration, as `provider/model`; of several entries the last says it. */
export const configuredAs = (config: FactsTarget['config'], model: string): string | undefined =>
  config.model_facts && configuredFor(config, model).findLast(({ as }) => as)?.as;

function splitName(name: string): readonly [provider: string, model: string] {
  const slash = name.indexOf('/');
  return [name.slice(0, slash), name.slice(slash + 1)];
}
