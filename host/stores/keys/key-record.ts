import type { Scope } from '../../contract/index.ts';
import type { KeyLimits } from '../../common/host-principal.ts';
import { type KeyAccess, scopesAfter } from './access-of-keys.ts';

/** A key as everybody may see it. Times are Unix milliseconds. */
export interface KeyRecord {
  readonly id: string;
  /** What is shown of the key itself: its beginning. */
  readonly display: string;
  readonly name: string;
  /** None of a key for inference. */
  readonly scopes: readonly Scope[];
  readonly createdAt: number;
  readonly revokedAt?: number | undefined;
  readonly expiresAt?: number | undefined;
  readonly rotatedAt?: number | undefined;
  readonly lastUsedAt?: number | undefined;
  readonly usageCount: number;
  readonly active: boolean;
  /** Until when the value before the last rotation counts; `undefined` once it does not. */
  readonly previousUntil?: number | undefined;
  readonly limits: KeyLimits;
  /** What brought it from another gateway: `litellm:` and the id of the import. */
  readonly origin?: string | undefined;
}

/** A key as repositories keep it. */
export interface StoredKey extends KeyRecord {
  /** SHA-256 of the key, in hex. The key itself is kept nowhere. */
  readonly digest: string;
  /** The value before the last rotation, as long as it still counts. */
  readonly previous?: { readonly digest: string; readonly until: number } | undefined;
  /** Sessions that began before this moment are over: a rotation ended them. */
  readonly sessionsFrom?: number | undefined;
  /** The key as another gateway's was brought, as a digest: one that differs by now was changed here. */
  readonly adoptedAs?: string | undefined;
}

/** What an administrator says of a new key. */
export interface KeyDraft {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt?: number | undefined;
  readonly limits?: KeyLimits | undefined;
}

/** What changes; `undefined` stays as it is, and `null` is taken away. */
export interface KeyChange {
  readonly name?: string | undefined;
  readonly scopes?: readonly Scope[] | undefined;
  readonly access?: KeyAccess | undefined;
  readonly expiresAt?: number | null | undefined;
  readonly limits?: { readonly [K in keyof KeyLimits]: KeyLimits[K] | null } | undefined;
}

/** The new value of a key. */
export interface KeyValue {
  readonly digest: string;
  readonly display: string;
}

export interface Rotation {
  /** Milliseconds for which the old value still counts; none unless said. */
  readonly graceMs?: number | undefined;
  /** Sessions made from this key end, too. */
  readonly endsSessions?: boolean | undefined;
  /** Unix milliseconds at which the newest of them began: after now, where another clock is ahead, or this one was set back before a start. */
  readonly newestSession?: number | undefined;
}

/** All three are checked, whatever wrote the row: revoking sets `active` to false and sets `revokedAt`, but a row edited by hand may have only one of them. */
export function isUsable({ active, revokedAt, expiresAt }: KeyRecord, now: number): boolean {
  return active && revokedAt === undefined && (expiresAt === undefined || now <= expiresAt);
}

export function isUsableAdmin(key: KeyRecord, now: number): boolean {
  return isUsable(key, now) && key.scopes.includes('admin');
}

/** Throws where the change contradicts what the key is. */
export function changedKey(key: StoredKey, { name, scopes, access, expiresAt, limits }: KeyChange): StoredKey {
  return {
    ...key,
    ...(name !== undefined && { name }),
    scopes: scopesAfter(key.scopes, { scopes, access }),
    ...(expiresAt !== undefined && { expiresAt: expiresAt ?? undefined }),
    ...(limits && { limits: withoutNothing({ ...key.limits, ...given(limits) }) }),
  };
}

/** What is not mentioned stays. */
const given = (limits: object): object =>
  Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));

const withoutNothing = (limits: object): KeyLimits =>
  Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined && value !== null));

/** Both values of a key end. The first moment counts. */
export function revokedKey(key: StoredKey, now: number): StoredKey {
  return { ...key, active: false, revokedAt: key.revokedAt ?? now, previous: undefined };
}

/** The value before the one that is replaced is over, whatever grace it had. */
export function rotatedKey(
  key: StoredKey,
  value: KeyValue,
  { graceMs = 0, endsSessions = false, newestSession }: Rotation,
  now: number,
): StoredKey {
  return {
    ...key,
    ...value,
    rotatedAt: now,
    previous: graceMs > 0 ? { digest: key.digest, until: now + graceMs } : undefined,
    sessionsFrom: endsSessions ? Math.max(now, newestSession ?? now) + 1 : key.sessionsFrom,
  };
}

/** The value before the last rotation counts no longer, whatever grace it had. */
export const withoutGrace = (key: StoredKey): StoredKey => ({ ...key, previous: undefined });

/** Without what only repositories need. `now` in Unix milliseconds. */
export function recordOf(
  { digest: _digest, previous, sessionsFrom: _from, adoptedAs: _adopted, ...record }: StoredKey,
  now: number,
): KeyRecord {
  return previous && now <= previous.until ? { ...record, previousUntil: previous.until } : record;
}

/** A key after a change, and as it was before. */
export interface UpdatedKey {
  readonly record: KeyRecord;
  readonly before: KeyRecord;
}

/** A new key, or a new value of one: the only time that the value is seen. */
export interface MadeKey {
  readonly key: string;
  readonly record: KeyRecord;
}
