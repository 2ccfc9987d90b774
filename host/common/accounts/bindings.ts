import { factsOf } from '../budgets/key-budget.ts';
import { countingTags } from './account-path.ts';
import type { AccountTree } from './account-tree.ts';
import { budgetCount, type Level, levelName } from './level.ts';
import { HostPrincipal, type KeyLimits } from '../host-principal.ts';

/** What binds a credential. */
export interface Binding {
  readonly tree: AccountTree;
  /** Its own limits, with the levels that bind it. */
  readonly limits: KeyLimits | undefined;
  /** Why it may not use any model. */
  readonly refusal: string | undefined;
}

/** What accounts and tags bind credentials to. It is looked for once for each credential and each state of the accounts. */
export class Bindings {
  readonly #anonymous = new HostPrincipal({ id: '', name: '', scopes: [] });
  readonly #known = new WeakMap<HostPrincipal, Binding>();

  /** Requests without a credential are bound by `/`. `undefined` where it is clear that nothing binds it. */
  of(credential: HostPrincipal | undefined, tree: AccountTree): Binding | undefined {
    if (tree.isEmpty && !isBoundByItself(credential?.limits)) return undefined;
    const principal = credential ?? this.#anonymous;
    const known = this.#known.get(principal);
    if (known?.tree === tree) return known;
    const binding = bindingOf(principal, tree);
    this.#known.set(principal, binding);
    return binding;
  }
}

function bindingOf({ id, limits }: HostPrincipal, tree: AccountTree): Binding {
  const { account, tags = [] } = limits ?? {};
  const chain = tree.chain(account);
  const missing = chain === undefined ? `the account ${account} of this key does not exist` : undefined;
  const brought = tree.tags(countingTags(tags)).filter(({ broughtBy }) => broughtBy !== 'request');
  const levels: readonly Level[] = [keyLevel(id, limits ?? {}), ...(chain ?? []), ...brought].filter(binds);
  if (levels.length === 0) return { tree, limits, refusal: missing };
  const shut = levels.find(({ blocked }) => blocked);
  const refusal = shut && `${shut.kind === 'key' ? 'this key' : levelName(shut)} is blocked`;
  return { tree, limits: Object.freeze({ ...limits, levels }), refusal: refusal ?? missing };
}

/** Whether a key has what only levels hold. */
const isBoundByItself = (limits: KeyLimits | undefined): boolean =>
  limits !== undefined &&
  (limits.account !== undefined ||
    limits.blocked !== undefined ||
    limits.max_parallel !== undefined ||
    limits.unpriced !== undefined ||
    limits.model_rules !== undefined ||
    limits.provider_rules !== undefined ||
    limits.session !== undefined);

/** What a key says of itself in the words of accounts. Its budgets, rates and exact lists stand in its limits. */
function keyLevel(id: string, limits: KeyLimits): Level {
  const {
    blocked = false,
    max_parallel: maxParallel,
    unpriced,
    model_rules: models,
    provider_rules: providers,
    session,
  } = limits;
  return {
    kind: 'key',
    path: id,
    budgetId: `k:${id}`,
    blocked,
    budgets: NONE,
    sessionBudgets: session?.budgets.map((budget, at) => factsOf(budget, `session.budgets[${at}]`)) ?? NONE,
    rpm: undefined,
    tpm: undefined,
    maxParallel,
    models,
    providers,
    unpriced,
    requiredTags: NONE,
    pattern: undefined,
  };
}

const NONE: readonly never[] = Object.freeze([]);

/** Whether anything is asked of a level. */
export const binds = (level: Level): boolean =>
  level.blocked ||
  budgetCount(level) > 0 ||
  level.requiredTags.length > 0 ||
  [level.rpm, level.tpm, level.maxParallel, level.models, level.providers, level.unpriced].some(
    (value) => value !== undefined,
  );
