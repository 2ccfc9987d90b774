import { changedFacts, type FactChanges } from '../../host/common/fact-keys.ts';
import { changedSources, type FactSources, type SourcedChanges } from '../../host/common/fact-sources.ts';
import { globMatcher } from '../../host/common/models/model-glob.ts';
import type { ModelRule } from '../../host/common/models/model-rule.ts';
import { type ModelFacts, NO_FACTS } from '../../host/contract/index.ts';
import { type HostNames, nameInRules } from './rule-names.ts';

/** Rules from general to special, and how hosts of models write names. */
export interface RuleSet {
  readonly rules: readonly ModelRule[];
  readonly names: readonly HostNames[];
}

export const NO_RULES: RuleSet = Object.freeze({ rules: [], names: [] });

/** Rules of several files as one list: those of a later file are the more special ones. */
export const layered = (...sets: readonly RuleSet[]): RuleSet => ({
  rules: sets.flatMap(({ rules }) => rules),
  names: sets.flatMap(({ names }) => names),
});

type IsNamed = (name: string) => boolean;

/**
 * What the rules say of a model at a provider. What a model wants back of its thoughts it wants wherever it is hosted; all
 * else that a rule says is of its own providers alone, because hosts map parameters themselves. So rules of other
 * providers count first, with those facts, and then the provider's own, of which the later one wins key by key.
 */
export class RuleBook {
  readonly #set: RuleSet;
  /** By rule, whether it speaks of a name: patterns are taken apart when the first model is asked for. */
  #named: readonly IsNamed[] | undefined;

  constructor(set: RuleSet) {
    this.#set = set;
  }

  get rules(): readonly ModelRule[] {
    return this.#set.rules;
  }

  facts(provider: string, model: string): ModelFacts {
    return this.#changes(provider, model).reduce((facts, { changes }) => changedFacts(facts, changes), NO_FACTS);
  }

  sources(provider: string, model: string): FactSources {
    return this.#changes(provider, model).reduce(changedSources, {});
  }

  #changes(provider: string, model: string): readonly SourcedChanges[] {
    const { rules, names } = this.#set;
    const name = nameInRules(provider, model, names);
    const named = (this.#named ??= rules.map(namer));
    const matching = rules.filter((_rule, at) => named[at]?.(name));
    const isOwn = ({ providers }: ModelRule): boolean => providers.includes(provider) || providers.includes('*');
    return [
      ...matching
        .filter((rule) => !isOwn(rule) && !rule.isHosted)
        .map((rule) => ({ changes: factsEverywhere(rule.set), origin: rule })),
      ...matching.filter(isOwn).map((rule) => ({ changes: rule.set, origin: rule })),
    ].map(({ changes, origin: { id, source, checked } }) => ({ changes, origin: { rule: id, source, checked } }));
  }
}

function namer({ models, except }: ModelRule): IsNamed {
  const [named, excepted] = [models.map(globMatcher), except.map(globMatcher)];
  return (name) => named.some((matches) => matches(name)) && !excepted.some((matches) => matches(name));
}

function factsEverywhere({ thoughts_back: back, thoughts_field: field }: FactChanges): FactChanges {
  return { ...(back !== undefined && { thoughts_back: back }), ...(field !== undefined && { thoughts_field: field }) };
}
