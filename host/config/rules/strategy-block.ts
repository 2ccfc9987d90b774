import { errorMessage } from '../../common/error-message.ts';
import { isFields, type StrategyModule, type StrategyProblem, type StrategyTarget } from '../../contract/index.ts';
import type { TargetConfig } from '../document.ts';
import { type ConfigRule, useKnown } from './rule.ts';
import { type SettingsProblem, settingsProblems, strategySettings, strategyTarget } from '../module-settings.ts';

/** What a module's own rules may compare with: about all targets together all that it knows of them, about anything else their names. */
const ALL_OF_TARGETS = /^targets(\[\d+\](\.(virtual_key|weight|settings))?)?$/;
const NAMES_OF_TARGETS = /^targets(\[\d+\](\.virtual_key)?)?$/;
const comparedBy = (path: string): RegExp => (path === 'targets' ? ALL_OF_TARGETS : NAMES_OF_TARGETS);
const FAILOVER_REASONS = ['context_length', 'content_policy', 'too_large', 'model_access'];

function targetSettingsProblems(
  { name, targetSettings }: StrategyModule,
  targets: readonly TargetConfig[],
): readonly Omit<SettingsProblem, 'rule'>[] {
  return targets.flatMap(({ settings }, index): readonly Omit<SettingsProblem, 'rule'>[] => {
    const path = `targets[${index}].settings`;
    if (targetSettings) return settingsProblems(targetSettings, settings, path).problems;
    return Object.keys(settings ?? {}).length === 0
      ? []
      : [{ path, message: `the strategy "${name}" reads no settings of targets`, fix: 'remove them' }];
  });
}

/** What the strategy says of its targets. A `check` that fails, or answers something else, is reported as well. */
function saidProblems(
  module: StrategyModule,
  settings: object,
  targets: readonly StrategyTarget[],
): readonly StrategyProblem[] {
  const own = (message: string, fix: string): readonly StrategyProblem[] => [
    { path: 'strategy', rule: 'CV38', message: `strategy "${module.name}": ${message}`, fix },
  ];
  try {
    const said: unknown = module.check?.(settings, targets);
    if (!Array.isArray(said))
      return own('its check returns no list', 'return a list of problems, an empty one when all is well');
    if (!said.every(isProblem))
      return own(
        'its check returns something that is not a problem',
        'return problems with path, rule, message and fix',
      );
    return said;
  } catch (error) {
    return own(`its check failed: ${errorMessage(error)}`, 'correct the strategy');
  }
}

const isProblem = (said: unknown): said is StrategyProblem =>
  isFields(said) && ['path', 'rule', 'message', 'fix'].every((name) => typeof said[name] === 'string');

export const strategyRules: readonly ConfigRule[] = [
  {
    id: 'CV13',
    check: ({ strategy }, { known, report }) => {
      if (known.strategies.has(strategy.mode) || known.isRefused('strategy', strategy.mode)) return;
      report(
        'strategy.mode',
        `"${strategy.mode}" is not a strategy of this build`,
        useKnown(strategy.mode, known.strategies),
      );
    },
  },
  {
    id: 'CV38',
    check: ({ strategy, targets }, { known, report }) => {
      const module = known.strategies.get(strategy.mode);
      if (!module) return;
      const { base, value } = strategySettings(module, strategy);
      const { problems, settings } = settingsProblems(module.settings, value, base);
      for (const problem of problems) report(problem.path, problem.message, problem.fix, problem.rule);
      if (problems.length > 0 || !module.check) return;
      if (module.targetSettings && targetSettingsProblems(module, targets).length > 0) return;
      for (const { path, message, fix, rule } of saidProblems(
        module,
        settings,
        targets.map((target) => strategyTarget(module, target)),
      ))
        report(path, message, fix, rule, comparedBy(path));
    },
  },
  {
    id: 'CV39',
    check: ({ strategy, targets }, { known, report }) => {
      const module = known.strategies.get(strategy.mode);
      for (const { path, message, fix } of module ? targetSettingsProblems(module, targets) : [])
        report(path, message, fix);
    },
  },
  {
    id: 'CV35',
    check: ({ strategy }, { report }) => {
      strategy.failover_on?.forEach((reason, index) => {
        if (FAILOVER_REASONS.includes(reason)) return;
        report(
          `strategy.failover_on[${index}]`,
          `"${reason}" is not a reason to fail over`,
          `use ${FAILOVER_REASONS.slice(0, -1).join(', ')} or ${FAILOVER_REASONS.at(-1)}`,
        );
      });
    },
  },
];
