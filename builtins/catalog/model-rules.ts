import { changedFacts, type FactChanges } from '../../host/common/fact-keys.ts';
import { matchesGlob } from '../../host/common/model-glob.ts';
import { type ModelFacts, NO_FACTS } from '../../host/contract/index.ts';
import { type HostNames, nameInRules } from './rule-names.ts';

/** One rule: what is known of the models that its patterns name, at these providers. */
export interface ModelRule {
  readonly id: string;
  /** Providers whose models it speaks of; `*` is every one. */
  readonly providers: readonly string[];
  readonly models: readonly string[];
  readonly except: readonly string[];
  readonly set: FactChanges;
  /** Whether it speaks of what its providers do with models of others, so that it says nothing of the models elsewhere. */
  readonly isHosted: boolean;
  /** Where it was read, and the day. */
  readonly source: readonly string[];
  readonly checked: string;
}

/** Rules from general to special, and how hosts of models write names. */
export interface RuleSet {
  readonly rules: readonly ModelRule[];
  readonly names: readonly HostNames[];
}

export const NO_RULES: RuleSet = Object.freeze({ rules: [], names: [] });

/**
 * What the rules say of a model at a provider. What a model wants back of its thoughts it wants wherever it is hosted; all
 * else that a rule says is of its own providers alone, because hosts map parameters themselves. So rules of other
 * providers count first, with those facts, and then the provider's own, of which the later one wins key by key.
 */
export function factsIn({ rules, names }: RuleSet, provider: string, model: string): ModelFacts {
  const name = nameInRules(provider, model, names);
  const matching = rules.filter(
    ({ models, except }) =>
      models.some((glob) => matchesGlob(glob, name)) && !except.some((glob) => matchesGlob(glob, name)),
  );
  const isOwn = ({ providers }: ModelRule): boolean => providers.includes(provider) || providers.includes('*');
  const elsewhere = matching.filter((rule) => !isOwn(rule) && !rule.isHosted).map(({ set }) => factsEverywhere(set));
  const own = matching.filter(isOwn).map(({ set }) => set);
  return [...elsewhere, ...own].reduce(changedFacts, NO_FACTS);
}

function factsEverywhere({ thoughts_back: back, thoughts_field: field }: FactChanges): FactChanges {
  return { ...(back !== undefined && { thoughts_back: back }), ...(field !== undefined && { thoughts_field: field }) };
}
