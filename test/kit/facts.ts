import { readShippedRules } from '../../builtins/catalog/load.ts';
import { RuleBook, type RuleSet } from '../../builtins/catalog/model-rules.ts';
import type { CallInfo, ModelFacts } from '../../host/contract/index.ts';
import { callFor } from '../../host/testing/relay-stream.ts';

const shipped = new RuleBook(await readShippedRules());

/** What the shipped rules say of a model, as a gateway has it. */
export const shippedFacts = (provider: string, model: string): ModelFacts => shipped.facts(provider, model);

/** What these rules say of a model. */
export const factsIn = (rules: RuleSet, provider: string, model: string): ModelFacts =>
  new RuleBook(rules).facts(provider, model);

/** A call as translators see it in a gateway, with the facts of its model. */
export const shippedCall = (provider: string, model: string, more: Partial<CallInfo> = {}): CallInfo =>
  callFor(model, { facts: shippedFacts(provider, model), ...more });
