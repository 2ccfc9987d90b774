import { type ModelFacts, NO_FACTS, type Prices } from '../contract/index.ts';
import type { CatalogPricing } from './prices/catalog-pricing.ts';
import type { FactSources } from './fact-sources.ts';
import type { ModelRule } from './models/model-rule.ts';

/** Lifecycle words a catalog uses; unknown ones are passed on. */
export type ModelStatus = 'preview' | 'ga' | 'deprecated' | 'legacy' | (string & {});

/** What a model can do, in the order in which `/v1/models` lists it. See docs/catalog.md#entries. */
export const CAPABILITIES = [
  'vision',
  'function_calling',
  'parallel_tool_calls',
  'json_mode',
  'response_schema',
  'streaming',
  'prompt_caching',
  'reasoning',
  'audio_input',
  'audio_output',
  'finetuneable',
] as const;

export type { CatalogPricing } from './prices/catalog-pricing.ts';

/** One model of one catalog provider, in the format of catalog files. See docs/catalog.md#entries. */
export interface CatalogEntry {
  readonly provider: string;
  readonly model_id: string;
  readonly display_name: string;
  /** `chat`, `embedding`, `image`, `audio_in`, `audio_out`, or a class this build does not know. */
  readonly mode: string;
  /** Tokens; 0 is unknown. */
  readonly context_window: number;
  readonly max_output_tokens: number;
  readonly pricing: CatalogPricing;
  readonly capabilities: Readonly<Record<string, boolean>>;
  readonly lifecycle: {
    readonly status: ModelStatus;
    readonly deprecation_date: string | null;
    readonly sunset_date: string | null;
    readonly successor: string | null;
  };
  /** Address of the price source. */
  readonly source: string;
  /** `YYYY-MM-DD`. */
  readonly updated_at: string;
}

/** Facts and prices of models, by provider: of a target by its `catalogProvider`, its facts by its kind. Lookups are O(1) and never answer with another provider's row. */
export interface Catalog extends Prices {
  readonly version: string;
  /** `undefined` when the catalog does not know the model. */
  readonly entry: (provider: string, model: string) => CatalogEntry | undefined;
  /** What the rules of models say of one, whether or not there is an entry of it. */
  readonly facts: (provider: string, model: string) => ModelFacts;
  /** What `facts` says, with the rule that states each, for people and logs: nothing of it is kept. */
  readonly factSources: (provider: string, model: string) => FactSources;
  /** The rules of models, from general to special. */
  readonly rules: readonly ModelRule[];
  /** Sorted ids of a provider's models, deprecated ones included. */
  modelsOf(provider: string): readonly string[];
}

/** Between the two names of `instanceCatalog`: neither of them holds it. */
const BEHIND = '>';

/**
 * Name that asks the catalog for the models of an entry of `providers`: what the operator's own file says of them under the
 * name of the instance goes first, then what the catalog has under the other name. Without one, nothing else is known.
 */
export const instanceCatalog = (instance: string, catalog: string | undefined): string =>
  `${instance}${BEHIND}${catalog ?? ''}`;

/** Whether `instanceCatalog` made the name; a provider has a plain one. */
export const isInstanceCatalog = (name: string): boolean => name.includes(BEHIND);

/** The two names that such a one was made of. */
export function instanceCatalogOf(name: string): { readonly instance: string; readonly catalog: string } {
  const at = name.indexOf(BEHIND);
  return { instance: name.slice(0, at), catalog: name.slice(at + BEHIND.length) };
}

/** While no catalog is loaded. */
export const NO_CATALOG: Catalog = {
  version: 'none',
  entry: () => undefined,
  facts: () => NO_FACTS,
  factSources: () => ({}),
  rules: [],
  modelsOf: () => [],
  tokenPrice: () => undefined,
  cost: () => undefined,
};
