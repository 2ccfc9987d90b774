import type { Account } from '../../../host/common/accounts/account.ts';
import { parentOf, ROOT } from '../../../host/common/accounts/account-path.ts';
import type { AccountTree } from '../../../host/common/accounts/account-tree.ts';
import { accountId } from '../../../host/common/accounts/account-id.ts';

/**
 * The accounts and tags that lists show and ids find: those that are written, the accounts above them, and those that only defaults make and a
 * key names. `/` is among them where it is written.
 */
export class KnownAccounts {
  readonly #byPath = new Map<string, Account>();
  readonly #byId = new Map<string, Account>();
  readonly #children = new Map<string, number>();

  /** `named`: paths that keys name. */
  constructor(tree: AccountTree, named: Iterable<string>) {
    for (const account of tree.known()) if (account.path !== ROOT || account.origin !== 'implied') this.#add(account);
    for (const path of named) {
      const account = this.#byPath.has(path) ? undefined : tree.find(path);
      if (account && path !== ROOT) this.#add(account);
    }
  }

  /** By path. */
  all(): readonly Account[] {
    return [...this.#byPath.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  find(id: string): Account | undefined {
    return this.#byId.get(id);
  }

  /** How many of them stand directly below. */
  childrenOf(path: string): number {
    return this.#children.get(path) ?? 0;
  }

  #add(account: Account): void {
    const { path } = account;
    this.#byPath.set(path, account);
    this.#byId.set(accountId(path), account);
    const parent = parentOf(path);
    if (parent !== undefined) this.#children.set(parent, this.childrenOf(parent) + 1);
  }
}
