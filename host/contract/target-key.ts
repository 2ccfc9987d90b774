import type { RouteTarget, StrategyProblem, StrategyTarget } from './strategy.ts';

/**
 * Targets that a problem names; a configuration may have thousands, and a problem for each of its
 * rules.
 */
const MAX_NAMED = 20;

/**
 * A problem when a rule of a strategy names no target, or one that is not declared. A strategy with
 * many rules gives the names as a set, made once.
 */
export function targetKeyProblem(
  key: string,
  targets: readonly StrategyTarget[] | ReadonlySet<string>,
  at: { readonly path: string; readonly rule: string },
): readonly StrategyProblem[] {
  const names = 'has' in targets ? targets : targetNames(targets);
  if (key !== '' && names.has(key)) return [];
  const message = key === '' ? `${at.path} names no target` : `${at.path} is "${key}", which no target declares`;
  const named = names.values().take(MAX_NAMED).toArray().join(', ');
  return [{ ...at, message, fix: `use one of: ${named}${names.size > MAX_NAMED ? ', …' : ''}` }];
}

/** The names that rules may hold. */
export function targetNames(targets: readonly StrategyTarget[]): ReadonlySet<string> {
  return new Set(targets.map(({ virtualKey }) => virtualKey));
}

/** The named target, then the others in their order; as they are when it is not among them. */
export function targetFirst(key: string, targets: readonly RouteTarget[]): readonly RouteTarget[] {
  const at = targets.findIndex(({ virtualKey }) => virtualKey === key);
  const named = targets[at];
  return named && at > 0 ? [named].concat(targets.slice(0, at), targets.slice(at + 1)) : targets;
}
