import { isTagName } from '../../host/common/accounts/account-path.ts';
import type { Account } from '../../host/common/accounts/account.ts';
import type { AccountTree } from '../../host/common/accounts/account-tree.ts';
import { HostPrincipal } from '../../host/common/host-principal.ts';

interface Bound {
  readonly tree: AccountTree;
  /** With its levels; itself where nothing binds it. */
  readonly principal: HostPrincipal;
  /** Why it may not use any model. */
  readonly refusal: string | undefined;
}

/** What accounts and tags bind credentials to. It is looked for once for each credential and each state of the accounts. */
export class BoundPrincipals {
  readonly #known = new WeakMap<HostPrincipal, Bound>();

  of(principal: HostPrincipal, tree: AccountTree): Bound {
    if (tree.isEmpty && principal.limits?.account === undefined) return { tree, principal, refusal: undefined };
    const known = this.#known.get(principal);
    if (known?.tree === tree) return known;
    const bound = boundTo(principal, tree);
    this.#known.set(principal, bound);
    return bound;
  }
}

function boundTo(principal: HostPrincipal, tree: AccountTree): Bound {
  const { limits = {} } = principal;
  const { account, tags = [] } = limits;
  const chain = tree.chain(account);
  const refusal = chain === undefined ? `the account ${account} of this key does not exist` : undefined;
  const brought = tree.tags(tags.filter(isTagName)).filter(({ broughtBy }) => broughtBy !== 'request');
  const levels = [...(chain ?? []), ...brought].filter(binds);
  if (levels.length === 0) return { tree, principal, refusal };
  const shut = levels.find(({ blocked: isBlocked }) => isBlocked);
  return {
    tree,
    principal: new HostPrincipal({ ...principal, limits: { ...limits, levels } }),
    refusal: refusal ?? (shut && `${nameOf(shut)} is blocked`),
  };
}

/** What an account or a tag is called in messages. */
export const nameOf = ({ kind, path }: Pick<Account, 'kind' | 'path'>): string => `the ${kind} ${path}`;

/** Whether anything is asked of a level. */
const binds = (level: Account): boolean =>
  level.blocked ||
  level.budgets.length > 0 ||
  level.requiredTags.length > 0 ||
  [level.rpm, level.tpm, level.maxParallel, level.models, level.providers, level.unpriced].some(
    (value) => value !== undefined,
  );
