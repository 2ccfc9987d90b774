import { isWithin, ROOT } from '../../common/accounts/account-path.ts';
import { matchesPattern } from '../../common/accounts/name-rules.ts';
import { accessOf } from './access-of-keys.ts';
import { NewestFirst } from './newest-first.ts';
import { isUsableAdmin, type StoredKey } from './key-record.ts';
import type {
  KeyFilters,
  KeyPage,
  KeyPlace,
  KeyRepository,
  KeysAfter,
  KeysStep,
  KeyStep,
  OriginSlice,
  KeyTotals,
  UsagePage,
  UsageQuery,
  Uses,
} from './key-repository.ts';

/** Keys of this process, gone with it. */
export class MemoryKeys implements KeyRepository {
  readonly #keys = new Map<string, StoredKey>();
  /** Ids by digest, of both values of a key. */
  readonly #byDigest = new Map<string, string>();
  readonly #order = new NewestFirst();

  async insert(key: StoredKey): Promise<void> {
    this.#put(key);
  }

  async change(id: string, { countAt, apply }: KeyStep): Promise<StoredKey | undefined> {
    const before = this.#keys.get(id);
    const after = apply(before, countAt === undefined ? 0 : this.#usableAdmins(countAt));
    if (before) this.#remove(before);
    if (after) this.#put(before ? { ...after, usageCount: before.usageCount, lastUsedAt: before.lastUsedAt } : after);
    return after;
  }

  async changeMany({ digests = [], slice, apply }: KeysStep): Promise<KeysAfter> {
    const after = apply([...(await this.findAll(digests)), ...(slice ? this.#ofOrigin(slice) : [])]);
    for (const id of after.removed) {
      const key = this.#keys.get(id);
      if (key) this.#remove(key);
    }
    for (const key of after.changed) await this.change(key.id, { apply: () => key });
    for (const key of after.made) this.#put(key);
    return after; // what was spent before is counted by the ledgers of this process
  }

  look(id: string): Promise<StoredKey | undefined> {
    return this.get(id);
  }

  async get(id: string): Promise<StoredKey | undefined> {
    return this.#keys.get(id);
  }

  async findAll(digests: readonly string[]): Promise<readonly StoredKey[]> {
    const ids = new Set(digests.map((digest) => this.#byDigest.get(digest)));
    return [...ids].flatMap((id) => this.#keys.get(id ?? '') ?? []);
  }

  async page(filters: KeyFilters, limit: number, after?: KeyPlace): Promise<KeyPage<StoredKey>> {
    const found = [...this.#filtered(filters, after).take(limit + 1)];
    const keys = found.slice(0, limit);
    const last = keys.at(-1);
    return { keys, next: last && found.length > limit ? placeOf(last) : undefined };
  }

  async placeOf(id: string): Promise<KeyPlace | undefined> {
    const key = this.#keys.get(id);
    return key && placeOf(key);
  }

  async count(filters: KeyFilters): Promise<number> {
    const { ids, name, account, tag } = filters;
    const isAll = ids === undefined && name === undefined && account === undefined && tag === undefined;
    return isAll ? this.#keys.size : this.#filtered(filters).toArray().length;
  }

  async usage({ sort, active, since, access, limit, offset }: UsageQuery): Promise<UsagePage<StoredKey>> {
    const kept = [...this.#keys.values()].filter(
      (key) =>
        (active === undefined || key.active === active) &&
        (access === undefined || accessOf(key) === access) &&
        (since === undefined || (key.lastUsedAt ?? Number.NEGATIVE_INFINITY) >= since),
    );
    return {
      keys: firstOf(kept, ORDERS[sort], offset + limit).slice(offset),
      totalKeys: kept.length,
      activeKeys: kept.filter((key) => key.active).length,
      totalUsage: kept.reduce((sum, { usageCount }) => sum + usageCount, 0),
    };
  }

  async accountCounts(): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    for (const { limits } of this.#keys.values())
      if (limits.account !== undefined) counts.set(limits.account, (counts.get(limits.account) ?? 0) + 1);
    return counts;
  }

  async totals(now: number): Promise<KeyTotals> {
    const keys = [...this.#keys.values()];
    return {
      total: keys.length,
      active: keys.filter(({ active }) => active).length,
      expired: keys.filter(({ expiresAt }) => expiresAt !== undefined && expiresAt < now).length,
      uses: keys.reduce((sum, { usageCount }) => sum + usageCount, 0),
    };
  }

  async addUses(uses: readonly Uses[]): Promise<void> {
    for (const { id, count, at } of uses) {
      const key = this.#keys.get(id);
      if (key)
        this.#keys.set(id, {
          ...key,
          usageCount: key.usageCount + count,
          lastUsedAt: Math.max(key.lastUsedAt ?? at, at),
        });
    }
  }

  async ping(): Promise<void> {}

  /** The newest first. */
  #filtered({ ids, name, account, tag }: KeyFilters, after?: KeyPlace): IteratorObject<StoredKey> {
    const order = ids ? new NewestFirst(this.#present(new Set(ids))) : this.#order;
    const keys = this.#present(order.behind(after)).filter(
      ({ limits }) =>
        (account === undefined || account === ROOT || isWithin(limits.account ?? '', account)) &&
        (tag === undefined || limits.tags?.some((each) => matchesPattern(tag, each)) === true),
    );
    if (name === undefined) return keys;
    const part = patternOf(name);
    return keys.filter((key) => part.test(key.name));
  }

  #present(ids: Iterable<string>): IteratorObject<StoredKey> {
    return Iterator.from(ids)
      .map((id) => this.#keys.get(id))
      .filter((key) => key !== undefined);
  }

  #ofOrigin({ origin, after, most }: OriginSlice): readonly StoredKey[] {
    const keys = [...this.#keys.values()].filter((key) => key.origin === origin && key.id > after);
    return keys.toSorted((a, b) => (a.id < b.id ? -1 : 1)).slice(0, most);
  }

  #usableAdmins(now: number): number {
    let count = 0;
    for (const key of this.#keys.values()) if (isUsableAdmin(key, now)) count += 1;
    return count;
  }

  #put(key: StoredKey): void {
    this.#keys.set(key.id, key);
    this.#order.add(key);
    this.#byDigest.set(key.digest, key.id);
    if (key.previous) this.#byDigest.set(key.previous.digest, key.id);
  }

  #remove(key: StoredKey): void {
    const { id, digest, previous } = key;
    this.#keys.delete(id);
    this.#order.remove(key);
    this.#byDigest.delete(digest);
    if (previous) this.#byDigest.delete(previous.digest);
  }
}

const placeOf = ({ createdAt, id }: StoredKey): KeyPlace => ({ createdAt, id });
/** Finds a text in others, whatever the case of A to Z, as databases do. */
const patternOf = (text: string): RegExp =>
  new RegExp(
    text.replace(/[a-zA-Z]|[^a-zA-Z]+/g, (part) =>
      /[a-zA-Z]/.test(part) ? `[${part.toLowerCase()}${part.toUpperCase()}]` : RegExp.escape(part),
    ),
  );
/** The first of them in an order. Few of many are found without sorting all, which would keep others waiting. */
function firstOf<T>(items: readonly T[], order: (a: T, b: T) => number, count: number): readonly T[] {
  if (items.length < SHORT || count > items.length / 4) return items.toSorted(order).slice(0, count);
  const first: T[] = [];
  for (const item of items) {
    const last = first.at(-1);
    if (last !== undefined && first.length >= count && order(last, item) <= 0) continue;
    let [low, high] = [0, first.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const found = first[middle];
      if (found !== undefined && order(found, item) <= 0) low = middle + 1;
      else high = middle;
    }
    first.splice(low, 0, item);
    if (first.length > count) first.pop();
  }
  return first;
}

/** Lists that are sorted in no time. */
const SHORT = 1000;

const newestFirst = (a: StoredKey, b: StoredKey): number => b.createdAt - a.createdAt || byIdDown(a, b);
const byIdDown = (a: StoredKey, b: StoredKey): number => Number(a.id < b.id) - Number(a.id > b.id);
const byUsage = (a: StoredKey, b: StoredKey): number => b.usageCount - a.usageCount;
/** Keys that were never used come last. */
const byLastUse = (a: StoredKey, b: StoredKey): number => (b.lastUsedAt ?? -1) - (a.lastUsedAt ?? -1);

const ORDERS: Readonly<Record<UsageQuery['sort'], (a: StoredKey, b: StoredKey) => number>> = {
  usage: (a, b) => byUsage(a, b) || byLastUse(a, b) || newestFirst(a, b),
  last_used: (a, b) => byLastUse(a, b) || byUsage(a, b) || newestFirst(a, b),
};
