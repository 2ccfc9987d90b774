import { readFacts } from '../../host/common/fact-keys.ts';
import { globProblem } from '../../host/common/models/model-glob.ts';
import { isFields, isText } from '../../host/contract/index.ts';
import type { ModelRule } from '../../host/common/models/model-rule.ts';
import type { RuleSet } from './model-rules.ts';
import type { HostNames } from './rule-names.ts';

const FORMAT = 1;
export interface ReadRules extends RuleSet {
  /** Rules that are left out, each with the reason. */
  readonly leftOut: readonly string[];
  /** Facts that this gateway does not know: the rest of their rule is used. */
  readonly unknown: readonly string[];
}

/** Reads a file of rules; a rule that is not as it should be is left out. Throws for what is not such a file. */
export function readRules(document: unknown): ReadRules {
  if (!isFields(document) || document['format'] !== FORMAT || !Array.isArray(document['rules']))
    throw new Error(`it is not a file of model rules of the format ${FORMAT}`);
  const leftOut: string[] = [];
  const unknown: string[] = [];
  const rules: ModelRule[] = [];
  for (const [at, row] of document['rules'].entries()) {
    const id = isFields(row) && isText(row['id']) ? row['id'] : `rules[${at}]`;
    const read = ruleOf(id, row);
    if (typeof read === 'string') leftOut.push(`model rule "${id}" is left out: ${read}`);
    else {
      rules.push(read.rule);
      for (const key of read.unknown) unknown.push(`model rule "${id}": ${key} is not known here`);
    }
  }
  return { rules, names: hostNames(document['names']), leftOut, unknown };
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string' && item !== '');

/** A rule, or why it cannot be used. Operators may leave out all but `models` and `set`: then it speaks of every provider. */
function ruleOf(id: string, row: unknown): { readonly rule: ModelRule; readonly unknown: readonly string[] } | string {
  if (!isFields(row)) return 'it is not an object';
  const { id: own = id, providers = ['*'], models, except = [], hosted = false, set, source, checked } = row;
  if (!isText(own)) return 'id must be a name';
  if (!isTexts(providers)) return 'providers must be a list of names';
  if (!isTexts(models)) return 'models must be a list of patterns';
  if (!Array.isArray(except) || (except.length > 0 && !isTexts(except))) return 'except must be a list of patterns';
  const patterns = [...models, ...(except as readonly string[])];
  const wrong = patterns.find((glob) => globProblem(glob) !== undefined);
  if (wrong !== undefined) return `the pattern "${wrong}" ${globProblem(wrong)}`;
  if (typeof hosted !== 'boolean') return 'hosted must be true or false';
  if (source !== undefined && !isTexts(source)) return 'source must be a list of pages';
  if (checked !== undefined && !isDay(checked)) return 'checked must be a day, as 2026-11-26';
  const { facts, problems } = readFacts(set);
  const bad = problems.find(({ isUnknown }) => !isUnknown);
  if (bad) return `set${bad.key === '' ? '' : `.${bad.key}`} ${bad.message}`;
  return {
    rule: {
      id,
      providers,
      models,
      except,
      isHosted: hosted,
      set: facts,
      source: source ?? [],
      checked: checked ?? '',
    },
    unknown: problems.map(({ key }) => key),
  };
}

const isDay = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value));

function hostNames(value: unknown): readonly HostNames[] {
  return (Array.isArray(value) ? value : [])
    .filter(isFields)
    .flatMap(({ providers, prefixes, point }) =>
      isTexts(providers)
        ? [{ providers, ...(isTexts(prefixes) && { prefixes }), ...(isText(point) && { point }) }]
        : [],
    );
}
