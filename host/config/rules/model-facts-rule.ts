import { readFacts } from '../../common/fact-keys.ts';
import { globProblem } from '../../common/models/model-glob.ts';
import type { TargetConfig } from '../document.ts';

type Entry = NonNullable<TargetConfig['model_facts']>[number];

/** What is wrong with a member of an entry, and what to write. */
export interface FactsProblem {
  readonly member: string;
  readonly message: string;
  readonly fix: string;
}

/** Most entries of a target. */
export const MAX_MODEL_FACTS = 100;

/** What is wrong with an entry of `targets[].model_facts`. */
export function modelFactsProblems({ models = [], as, set }: Entry): readonly FactsProblem[] {
  const problems: FactsProblem[] = [];
  const add = (member: string, message: string, fix: string): void => void problems.push({ member, message, fix });
  if (models.length === 0) add('models', 'names no models', 'list patterns of upstream models, such as "my-model*"');
  models.forEach((glob, at) => {
    const wrong = globProblem(glob);
    if (wrong !== undefined)
      add(`models[${at}]`, `is "${glob}", which ${wrong}`, 'write a name, with * for any run of characters');
  });
  if (as === undefined && Object.keys(set ?? {}).length === 0) add('', 'says nothing of them', 'add as, or set');
  if (as !== undefined && !/^[^/]+\/./.test(as))
    add('as', `is "${as}"`, 'write the provider and the model, such as "openai/gpt-4o"');
  for (const { key, message } of set === undefined ? [] : readFacts(set).problems)
    add(`set.${key}`, message, 'see docs/catalog.md, "Rules of models"');
  return problems;
}
