import type { RouteTarget, StrategyPlace, StrategyProblem, StrategyTarget } from './strategy.ts';

/**
 * Targets that a problem names; a configuration may have thousands, and a problem for each of its
 * rules.
 */
const MAX_NAMED = 20;

/** Where a rule of a strategy names a target. */
export interface TargetKeyPlace {
  readonly path: string;
  readonly rule: string;
  /** `target` unless said. */
  readonly entry?: StrategyPlace['entry'];
}

/**
 * A problem when a rule of a strategy names no target, or one that is not declared. A strategy with
 * many rules gives the names as a set, made once.
 *
 * @param key what the operator wrote; an empty text counts as left out.
 * @param targets those of `check`, or their names.
 * @param at the path of the value inside the document, the id of the rule it breaks, and what an
 * entry of the list is called (`place.entry` of `check`).
 * @returns one problem, whose fix lists up to 20 names, or none. It is a list, so that `check` can
 * spread it into its own.
 * @example
 * ```ts
 * import { type StrategyProblem, type StrategyTarget, targetKeyProblem } from 'gw/contract';
 *
 * export function check({ first }: { readonly first: string }, targets: readonly StrategyTarget[]): readonly StrategyProblem[] {
 *   return targetKeyProblem(first, targets, { path: 'strategy.settings.first', rule: 'first' });
 * }
 * ```
 */
export function targetKeyProblem(
  key: string,
  targets: readonly StrategyTarget[] | ReadonlySet<string>,
  { path, rule, entry = 'target' }: TargetKeyPlace,
): readonly StrategyProblem[] {
  const names = 'has' in targets ? targets : targetNames(targets);
  if (key !== '' && names.has(key)) return [];
  const message = key === '' ? `${path} names no ${entry}` : `${path} is "${key}", which no ${entry} declares`;
  const named = names.values().take(MAX_NAMED).toArray().join(', ');
  return [{ path, rule, message, fix: `use one of: ${named}${names.size > MAX_NAMED ? ', …' : ''}` }];
}

/**
 * The names that rules may hold. Make it once for many rules: `targetKeyProblem` makes one of its
 * own for each list.
 */
export function targetNames(targets: readonly StrategyTarget[]): ReadonlySet<string> {
  return new Set(targets.map(({ virtualKey }) => virtualKey));
}

/**
 * The named target, then the others in their order; as they are when it is not among them.
 *
 * @param key the virtual key of the target to be tried before the others.
 * @param targets as `rank` got them. They are not changed.
 * @returns a new list, or the very list that was given where nothing has to move. It never drops a
 * target.
 */
export function targetFirst(key: string, targets: readonly RouteTarget[]): readonly RouteTarget[] {
  const at = targets.findIndex(({ virtualKey }) => virtualKey === key);
  const named = targets[at];
  return named && at > 0 ? [named].concat(targets.slice(0, at), targets.slice(at + 1)) : targets;
}
