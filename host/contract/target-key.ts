import type { RouteTarget, StrategyProblem, StrategyTarget } from './strategy.ts';

/** A problem when a rule of a strategy names no target, or one that is not declared. */
export function targetKeyProblem(key: string, targets: readonly StrategyTarget[], at: { readonly path: string; readonly rule: string }): readonly StrategyProblem[] {
  if (targets.some(({ virtualKey }) => virtualKey === key && key !== '')) return [];
  const message = key === '' ? `${at.path} names no target` : `${at.path} is "${key}", which no target declares`;
  return [{ ...at, message, fix: `use one of: ${targets.map(({ virtualKey }) => virtualKey).join(', ')}` }];
}

/** The named target, then the others in their order; as they are when it is not among them. */
export function targetFirst(key: string, targets: readonly RouteTarget[]): readonly RouteTarget[] {
  const at = targets.findIndex(({ virtualKey }) => virtualKey === key);
  const named = targets[at];
  return named && at > 0 ? [named].concat(targets.slice(0, at), targets.slice(at + 1)) : targets;
}
