import type { Catalog } from '../common/catalog.ts';
import { changedFacts, readFacts } from '../common/fact-keys.ts';
import { changedSources, type FactOrigin, type FactSources } from '../common/fact-sources.ts';
import { matchesGlob } from '../common/models/model-glob.ts';
import { bareModelName } from '../common/models/model-name.ts';
import type { TargetConfig } from '../config/document.ts';
import { type ModelFacts, NO_FACTS } from '../contract/index.ts';

/** Names whose facts are kept in each half: 2,000 in all. */
const MAX_HALF = 1_000;
/** UTF-16 code units. Clients choose names where a provider takes any: longer ones are looked up each time, and not kept. */
export const MAX_NAME = 256;

type Configured = NonNullable<TargetConfig['model_facts']>[number];

/** A target as far as it decides about facts. */
export interface FactsTarget {
  readonly config: Pick<TargetConfig, 'virtual_key' | 'model_facts'>;
  /** Name that the rules know it by: that of its module, whatever catalog its models stand in. */
  readonly catalogProvider: string;
}

/**
 * The facts of models as one generation knows them: those of the rules, and over them what the target's configuration
 * says. They are merged when a model is first asked for, and looked up from then on. A newer catalog makes another generation.
 */
export class KnownFacts {
  readonly #catalog: Pick<Catalog, 'facts'>;
  /** Names that were asked for since the halves changed, and those of the time before: what is in neither was not asked for the longest. */
  #young = new Half();
  #old = new Half();

  constructor(catalog: Pick<Catalog, 'facts'>) {
    this.#catalog = catalog;
  }

  of(target: FactsTarget, model: string): ModelFacts {
    if (model.length > MAX_NAME) return this.#merged(target, model);
    const known = this.#young.get(target, model);
    if (known) return known;
    const facts = this.#old.get(target, model) ?? this.#merged(target, model);
    if (this.#young.size >= MAX_HALF) {
      this.#old = this.#young;
      this.#young = new Half();
    }
    this.#young.set(target, model, facts);
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

const CONFIGURED: FactOrigin = { rule: 'targets[].model_facts', source: [], checked: '' };

/** What `KnownFacts` says of a model, with what set each fact. For people: nothing of it is kept. */
export function knownSources(
  catalog: Pick<Catalog, 'factSources'>,
  { config, catalogProvider }: FactsTarget,
  model: string,
): FactSources {
  return configuredFor(config, model).reduce(
    (sources, { as, set }) => {
      const taken = { ...sources, ...(as ? catalog.factSources(...splitName(as)) : {}) };
      return set ? changedSources(taken, { changes: readFacts(set).facts, origin: CONFIGURED }) : taken;
    },
    catalog.factSources(catalogProvider, model),
  );
}

/** Facts by target and model: two look-ups cost less than one text made of both. */
class Half {
  readonly #byTarget = new Map<FactsTarget, Map<string, ModelFacts>>();
  size = 0;

  get(target: FactsTarget, model: string): ModelFacts | undefined {
    return this.#byTarget.get(target)?.get(model);
  }

  set(target: FactsTarget, model: string, facts: ModelFacts): void {
    const own = this.#byTarget.get(target) ?? new Map<string, ModelFacts>();
    this.#byTarget.set(target, own.set(model, facts));
    this.size += 1;
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
