import Joi from 'joi';
import {
  defineStrategy,
  type RouteQuery,
  type StrategyProblem,
  targetFirst,
  targetKeyProblem,
  targetNames,
  TOP_LEVEL,
} from 'gw/contract';

interface Condition {
  key: string;
  field: string;
  value: string;
  target_key: string;
}

interface Settings {
  conditions: Condition[];
}

type Matcher = (query: RouteQuery, condition: Condition) => boolean;

/** What a condition may look at. The model is the one after aliases. */
const MATCHERS: ReadonlyMap<string, Matcher> = new Map<string, Matcher>([
  ['model', ({ model }, { value }) => model === value],
  ['model_prefix', ({ model }, { value }) => model.startsWith(value)],
  ['metadata', ({ metadata }, { field, value }) => metadata[field] === value],
]);

const text = (meaning: string): Joi.StringSchema => Joi.string().allow('').default('').description(meaning);

/** The target that the first matching condition names, else the first. See docs/strategies.md#conditional. */
export default defineStrategy<Settings>({
  name: 'conditional',
  summary: 'Chooses the target by rules on the model or on request metadata',
  sessions: 'repeatable',
  settings: Joi.object<Settings, true>({
    conditions: Joi.array()
      .items(
        Joi.object<Condition, true>({
          key: text('what is looked at: `model`, `model_prefix` or `metadata`'),
          field: text('entry of the header `X-Gateway-Metadata`, for `metadata` alone'),
          value: text('what it must equal, or begin with'),
          target_key: text('the target that takes it: a declared `virtual_key`'),
        }),
      )
      .default([])
      .description(
        'rules, at least one; the first that matches names the target, otherwise the first target takes the request',
      ),
  }),
  settingsFrom: ['conditions'],
  check: ({ conditions }, targets, { strategy, entry } = TOP_LEVEL) => {
    if (conditions.length === 0)
      return [
        {
          path: `${strategy}.conditions`,
          rule: 'CV17',
          message: 'conditional has no conditions',
          fix: 'write at least one, or use another mode',
        },
      ];
    const names = targetNames(targets);
    return conditions.flatMap((condition, index) => {
      const path = `${strategy}.conditions[${index}]`;
      return [
        ...keyProblems(condition, path),
        ...targetKeyProblem(condition.target_key, names, { path: `${path}.target_key`, rule: 'CV17', entry }),
      ];
    });
  },
  create: ({ conditions }) => {
    const rules = conditions.map((condition) => ({ condition, matches: MATCHERS.get(condition.key) }));
    return (targets, query, notes) => {
      const index = rules.findIndex(({ condition, matches }) => matches?.(query, condition));
      if (index < 0) {
        notes?.target?.(targets[0]?.virtualKey ?? '', 'no condition matches: the first target takes the request');
        return targets;
      }
      const chosen = conditions[index]?.target_key ?? '';
      notes?.rule?.(`conditions[${index}]`);
      notes?.target?.(chosen, `conditions[${index}] matches`);
      return targetFirst(chosen, targets);
    };
  },
});

function keyProblems({ key, field }: Condition, at: string): readonly StrategyProblem[] {
  const keys = [...MATCHERS.keys()].join(', ');
  if (!MATCHERS.has(key))
    return [{ path: `${at}.key`, rule: 'CV17', message: `${at} has the key "${key}"`, fix: `use one of: ${keys}` }];
  if (key === 'metadata' && field === '')
    return [
      {
        path: `${at}.field`,
        rule: 'CV17',
        message: `${at} names no metadata field`,
        fix: 'write the name of an entry of X-Gateway-Metadata',
      },
    ];
  if (key !== 'metadata' && field !== '')
    return [
      {
        path: `${at}.field`,
        rule: 'CV17',
        message: `${at} has the field "${field}" beside the key "${key}"`,
        fix: 'remove it; only the key metadata has one',
      },
    ];
  return [];
}
