import { errorMessage } from '../../common/error-message.ts';
import { isFields, type StrategyModule, type StrategyProblem } from '../../contract/index.ts';
import { type ConfigRule, type RuleContext, useKnown } from './rule.ts';
import { comparedBy, movedPath, type PlacedStrategy, placedStrategies } from './strategy-places.ts';
import { type SettingsProblem, settingsProblems, strategySettings, strategyTarget } from '../module-settings.ts';

const AFFINITY: ReadonlySet<string> = new Set(['off', 'session']);
const FAILOVER_REASONS = ['context_length', 'content_policy', 'too_large', 'model_access'];

type TargetProblem = Omit<SettingsProblem, 'rule'>;

function targetSettingsProblems(
  { name, targetSettings }: StrategyModule,
  { targets, place }: PlacedStrategy,
): readonly TargetProblem[] {
  return targets.flatMap(({ settings }, index): readonly TargetProblem[] => {
    const path = `${place.targets}[${index}].settings`;
    if (targetSettings) return settingsProblems(targetSettings, settings, path).problems;
    return Object.keys(settings ?? {}).length === 0
      ? []
      : [{ path, message: `the strategy "${name}" reads no settings of ${place.entry}s`, fix: 'remove them' }];
  });
}

/** What the strategy says of its targets. A `check` that fails, or answers something else, is reported as well. */
function saidProblems(
  module: StrategyModule,
  settings: object,
  { targets, place }: PlacedStrategy,
): readonly StrategyProblem[] {
  const own = (message: string, fix: string): readonly StrategyProblem[] => [
    { path: place.strategy, rule: 'CV38', message: `strategy "${module.name}": ${message}`, fix },
  ];
  try {
    const ranked = targets.map((target) => strategyTarget(module, target));
    const said: unknown = module.check?.(settings, ranked, place);
    if (!Array.isArray(said))
      return own('its check returns no list', 'return a list of problems, an empty one when all is well');
    if (!said.every(isProblem))
      return own(
        'its check returns something that is not a problem',
        'return problems with path, rule, message and fix',
      );
    return said.map((problem) => ({ ...problem, path: movedPath(problem.path, place) }));
  } catch (error) {
    return own(`its check failed: ${errorMessage(error)}`, 'correct the strategy');
  }
}

const isProblem = (said: unknown): said is StrategyProblem =>
  isFields(said) && ['path', 'rule', 'message', 'fix'].every((name) => typeof said[name] === 'string');

type StrategyCheck = (placed: PlacedStrategy, module: StrategyModule, report: RuleContext['report']) => void;

/** A rule on each strategy of the document that this build has. */
function eachStrategy(id: string, check: StrategyCheck): ConfigRule {
  return {
    id,
    check: (config, { known, report }) => {
      for (const placed of placedStrategies(config)) {
        const module = known.strategies.get(placed.strategy.mode);
        if (module) check(placed, module, report);
      }
    },
  };
}

export const strategyRules: readonly ConfigRule[] = [
  {
    id: 'CV13',
    check: (config, { known, report }) => {
      for (const { strategy, place } of placedStrategies(config)) {
        if (known.strategies.has(strategy.mode) || known.isRefused('strategy', strategy.mode)) continue;
        report(
          `${place.strategy}.mode`,
          `"${strategy.mode}" is not a strategy of this build`,
          useKnown(strategy.mode, known.strategies),
        );
      }
    },
  },
  eachStrategy('CV38', (placed, module, report) => {
    const { base, value } = strategySettings(module, placed.strategy, placed.place.strategy);
    const { problems, settings } = settingsProblems(module.settings, value, base);
    for (const problem of problems) report(problem.path, problem.message, problem.fix, problem.rule);
    if (problems.length > 0 || !module.check) return;
    if (module.targetSettings && targetSettingsProblems(module, placed).length > 0) return;
    for (const { path, message, fix, rule } of saidProblems(module, settings, placed))
      report(path, message, fix, rule, comparedBy(path, placed.place));
  }),
  eachStrategy('CV39', (placed, module, report) => {
    for (const { path, message, fix } of targetSettingsProblems(module, placed)) report(path, message, fix);
  }),
  {
    id: 'CV67',
    check: (config, { report }) => {
      for (const { strategy, place } of placedStrategies(config))
        if (strategy.affinity !== undefined && !AFFINITY.has(strategy.affinity))
          report(
            `${place.strategy}.affinity`,
            `"${strategy.affinity}" is not a kind of affinity`,
            'use off or session',
          );
    },
  },
  {
    id: 'CV35',
    check: (config, { report }) => {
      for (const { strategy, place } of placedStrategies(config))
        strategy.failover_on?.forEach((reason, index) => {
          if (FAILOVER_REASONS.includes(reason)) return;
          report(
            `${place.strategy}.failover_on[${index}]`,
            `"${reason}" is not a reason to fail over`,
            `use ${FAILOVER_REASONS.slice(0, -1).join(', ')} or ${FAILOVER_REASONS.at(-1)}`,
          );
        });
    },
  },
];
