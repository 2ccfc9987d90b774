import { readShippedRules } from '../../builtins/catalog/load.ts';
import { factsIn } from '../../builtins/catalog/model-rules.ts';
import type { ModelFacts } from '../../host/contract/index.ts';

const rules = await readShippedRules();

/** What the shipped rules say of a model, as a gateway has it. */
export const shippedFacts = (provider: string, model: string): ModelFacts => factsIn(rules, provider, model);
