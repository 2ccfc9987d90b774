import { type ConfigRule, sortedNames } from './rule.ts';
import { settingsProblems, strategySettings } from '../module-settings.ts';

/** What a module's own rules may compare with. */
const TARGETS = /^targets(\[\d+\](\.(virtual_key|weight))?)?$/;
const FAILOVER_REASONS = ['context_length', 'content_policy'];

export const strategyRules: readonly ConfigRule[] = [
  {
    id: 'CV13',
    check: ({ strategy }, { known, report }) => {
      if (known.strategies.has(strategy.mode)) return;
      report('strategy.mode', `"${strategy.mode}" is not a strategy of this build`, `use one of: ${sortedNames(known.strategies)}`);
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
      const weighed = targets.map(({ virtual_key, weight }) => ({ virtualKey: virtual_key, weight: weight ?? 0 }));
      for (const problem of module.check(settings, weighed)) report(problem.path, problem.message, problem.fix, problem.rule, TARGETS);
    },
  },
  {
    id: 'CV35',
    check: ({ strategy }, { report }) => {
      strategy.failover_on?.forEach((reason, index) => {
        if (FAILOVER_REASONS.includes(reason)) return;
        report(`strategy.failover_on[${index}]`, `"${reason}" is not a reason to fail over`, `use ${FAILOVER_REASONS.join(' or ')}`);
      });
    },
  },
];
