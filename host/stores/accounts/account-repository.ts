import type { WrittenAccount } from '../../common/accounts/account-members.ts';
import type { Raise } from '../../common/accounts/raise.ts';
import type { PendingChange } from '../changes.ts';
import type { Opening } from '../ledgers/opening.ts';

/** An account or a tag as it is kept. Moments in Unix milliseconds. */
export interface StoredAccount {
  readonly account: WrittenAccount;
  /** From 1, one more with each change. */
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** What brought it from another gateway. */
  readonly importId?: string | undefined;
  /** The version that the import wrote last: another one was written here. */
  readonly importedVersion?: number | undefined;
}

/** An account after a change, with the sums that begin with it. */
export interface ChangedAccount {
  readonly stored: StoredAccount;
  readonly openings?: readonly Opening[];
}

/** What is kept after a change, decided on what is there: `undefined` for nothing. Throws a `GatewayError` to change nothing. */
export type AccountStep = (before: StoredAccount | undefined) => ChangedAccount | undefined;

/** Keys and accounts of another gateway that were brought together. */
export interface ImportRecord {
  readonly id: string;
  /** Which gateway they are from: `litellm`. */
  readonly source: string;
  readonly note: string | undefined;
  readonly actor: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Where accounts are kept, in the database of the keys. Every method is one transaction. */
export interface AccountRepository {
  /** What cannot be read throws: an account that is left out would bind nothing. */
  all(): Promise<readonly StoredAccount[]>;
  get(path: string): Promise<StoredAccount | undefined>;
  /** Reads, decides and writes; no other change comes in between. */
  change(path: string, step: AccountStep, pending?: PendingChange): Promise<StoredAccount | undefined>;
  /** Those that are not over. */
  raises(now: number): Promise<readonly Raise[]>;
  raisesOf(subject: string, now: number): Promise<readonly Raise[]>;
  addRaise(raise: Raise, pending?: PendingChange): Promise<void>;
  /** Whether there was one. */
  removeRaise(subject: string, id: string, pending?: PendingChange): Promise<boolean>;
  addImport(record: ImportRecord, pending?: PendingChange): Promise<void>;
  getImport(id: string): Promise<ImportRecord | undefined>;
  /** Whether there was one. */
  removeImport(id: string, pending?: PendingChange): Promise<boolean>;
}
