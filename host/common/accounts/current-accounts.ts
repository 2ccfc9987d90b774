import type { WrittenAccount } from './account-members.ts';
import { AccountTree } from './account-tree.ts';
import type { Raise } from './raise.ts';

/** Accounts of a store, in memory. The version moves with each change of accounts or raises. */
export interface StoredAccounts {
  readonly version: number;
  accounts(): readonly WrittenAccount[];
  /** Raises of the id of a key, or of the path of an account, with those that have not begun and those that are over. */
  raisesOf(subject: string): readonly Raise[];
}

/** The accounts that one applied configuration works with: what it declares, and what is stored now. */
export class CurrentAccounts {
  readonly #declared: readonly WrittenAccount[];
  readonly #timezone: string;
  readonly #stored: StoredAccounts;
  #tree: AccountTree | undefined;

  constructor(declared: readonly WrittenAccount[], timezone: string, stored: StoredAccounts) {
    this.#declared = declared;
    this.#timezone = timezone;
    this.#stored = stored;
  }

  /** One comparison while nothing has changed. */
  tree(): AccountTree {
    const { version } = this.#stored;
    if (this.#tree?.version !== version)
      this.#tree = new AccountTree({
        declared: this.#declared,
        stored: this.#stored.accounts(),
        timezone: this.#timezone,
        version,
      });
    return this.#tree;
  }

  /** Moves with each change of what is stored, raises among it. */
  get version(): number {
    return this.#stored.version;
  }

  raisesOf(subject: string): readonly Raise[] {
    return this.#stored.raisesOf(subject);
  }
}
