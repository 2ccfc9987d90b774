import type { PendingChange } from '../changes.ts';
import type { Opening } from '../ledgers/opening.ts';
import type { KeyAccess } from './access-of-keys.ts';
import type { StoredKey } from './key-record.ts';

/** A change of one key, decided on what the transaction sees. It may run more than once, when two transactions meet. */
export interface KeyStep {
  /** Unix milliseconds at which usable admin keys are counted; without it they are not counted, and the count is 0. */
  readonly countAt?: number | undefined;
  /** What is kept from now on, `undefined` for nothing. Throws a `GatewayError` to change nothing. */
  readonly apply: (key: StoredKey | undefined, usableAdmins: number) => StoredKey | undefined;
}

/** Keys of one origin behind an id, in the order of ids. */
export interface OriginSlice {
  readonly origin: string;
  readonly after: string;
  readonly most: number;
}

/** A change of many keys, decided on what the transaction sees. It may run more than once. */
export interface KeysStep {
  /** Keys that have one of these digests, or had it before their last rotation. */
  readonly digests?: readonly string[] | undefined;
  readonly slice?: OriginSlice | undefined;
  /** What becomes of keys. Throws a `GatewayError` to change nothing. */
  readonly apply: (found: readonly StoredKey[]) => KeysAfter;
}

/** What a change of many keys does: all of it, or nothing. */
export interface KeysAfter {
  readonly made: readonly StoredKey[];
  readonly changed: readonly StoredKey[];
  /** Ids. */
  readonly removed: readonly string[];
  /** Sums that begin with these keys. */
  readonly openings: readonly Opening[];
}

export interface UsageQuery {
  readonly sort: 'usage' | 'last_used';
  /** By the member `active`; an expired key is active. */
  readonly active?: boolean | undefined;
  /** Unix milliseconds: keys used then or later. */
  readonly since?: number | undefined;
  readonly access?: KeyAccess | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** All that are given must match. */
export interface KeyFilters {
  /** Part of the name. Of the letters A to Z the case does not matter. */
  readonly name?: string | undefined;
  readonly ids?: readonly string[] | undefined;
  /** Keys of this account, or of one below it; `/` is every key. */
  readonly account?: string | undefined;
  /** The name of a tag that the key carries; with `*` at its end the beginning of one. */
  readonly tag?: string | undefined;
}

/** Where a key stands in the list, as its repository writes it: moments may be finer there than in records. */
export interface KeyPlace {
  readonly createdAt: string | number;
  readonly id: string;
}

/** Part of a list. */
export interface KeyPage<K> {
  readonly keys: readonly K[];
  /** The place of the last key, where others stand behind it. */
  readonly next: KeyPlace | undefined;
}

export interface UsagePage<K> {
  readonly keys: readonly K[];
  /** Over all that the filters leave, whatever the page. */
  readonly totalKeys: number;
  readonly activeKeys: number;
  readonly totalUsage: number;
}

/** Sums over all keys there are. */
export interface KeyTotals {
  readonly total: number;
  /** By the member `active`, as in lists. */
  readonly active: number;
  /** Whose expiry has passed, active or not. */
  readonly expired: number;
  readonly uses: number;
}

export interface Uses {
  readonly id: string;
  readonly count: number;
  /** Unix milliseconds of the last one. */
  readonly at: number;
}

/**
 * Where keys are kept. Every method is one transaction and throws whatever the driver throws; nothing of a failed one is kept.
 * None of them knows the time, makes a value or decides a rule. One with a `change` does nothing once that is too late.
 */
export interface KeyRepository {
  insert(key: StoredKey, change?: PendingChange): Promise<void>;
  /** Reads, decides and writes; no other change of the key comes in between, not from another process either. All but the uses is written. Resolves with what `apply` returned. */
  change(id: string, step: KeyStep, change?: PendingChange): Promise<StoredKey | undefined>;
  /** As `change`, for many keys in one transaction. Sums that have begun already stay as they are. Resolves with what `apply` returned. */
  changeMany(step: KeysStep, change?: PendingChange): Promise<KeysAfter>;
  /** A key once every change that was begun has ended, also that of another process. */
  look(id: string): Promise<StoredKey | undefined>;
  get(id: string): Promise<StoredKey | undefined>;
  /** By the digests of keys, or of the values before them. */
  findAll(digests: readonly string[]): Promise<readonly StoredKey[]>;
  /** The newest first, then by id downwards; those that stand behind `after`, where it is given. */
  page(filters: KeyFilters, limit: number, after?: KeyPlace): Promise<KeyPage<StoredKey>>;
  /** `undefined` when there is no such key. */
  placeOf(id: string): Promise<KeyPlace | undefined>;
  count(filters: KeyFilters): Promise<number>;
  /** Filters, sorts, sums up, and then takes the page. */
  usage(query: UsageQuery): Promise<UsagePage<StoredKey>>;
  /** How many keys name each account; keys without one are left out. */
  accountCounts(): Promise<ReadonlyMap<string, number>>;
  /** `now` in Unix milliseconds. */
  totals(now: number): Promise<KeyTotals>;
  /**
   * Adds to the counts, once for each number; a moment earlier than the one kept changes none. Ids that are gone are passed over. Throws a
   * `WriteFault` where the store answers with a no.
   */
  addUses(uses: readonly Uses[], number?: number): Promise<void>;
  ping(): Promise<void>;
}
