import { HostPrincipal } from '../../common/host-principal.ts';
import type { OnEnded, Plane, Standing } from '../credential-standing.ts';
import { accessOf } from './access-of-keys.ts';
import { isUsable, type StoredKey } from './key-record.ts';

/** A key in memory. Times are monotonic milliseconds. */
export interface KeyEntry {
  key: StoredKey;
  principal: HostPrincipal;
  /** The store last said so. */
  confirmedAt: number;
  /** A request last used it. */
  seenAt: number;
  /** Digests that requests came with. */
  readonly digests: Set<string>;
}

/** Keys in memory: those in use. Of more, the ones that came first make room, a hundredth at a time. */
const MOST_KEYS = 120_000;

/** The keys that requests came with, by digest, and those that sessions were made from, by id. */
export class KeyTable {
  readonly #byDigest = new Map<string, KeyEntry>();
  readonly #byId = new Map<string, KeyEntry>();

  byDigest(digest: string): KeyEntry | undefined {
    return this.#byDigest.get(digest);
  }

  byId(id: string): KeyEntry | undefined {
    return this.#byId.get(id);
  }

  /** Takes what the store said; `digest` is the one a request came with. */
  keep(key: StoredKey, at: number, digest?: string): KeyEntry {
    const entry = this.replace(key, at) ?? this.#add(key, at);
    if (digest === undefined) return entry;
    entry.seenAt = at;
    entry.digests.add(digest);
    this.#byDigest.set(digest, entry);
    return entry;
  }

  /** The key is another by now. Digests that are no longer its own are forgotten; one that is not here stays unknown. */
  replace(key: StoredKey, at: number): KeyEntry | undefined {
    const entry = this.#byId.get(key.id);
    if (!entry) return undefined;
    for (const digest of entry.digests)
      if (digest !== key.digest && digest !== key.previous?.digest) this.#forgetDigest(entry, digest);
    entry.key = key;
    entry.principal = principalOf(key);
    entry.confirmedAt = at;
    return entry;
  }

  forget(id: string): void {
    const entry = this.#byId.get(id);
    if (!entry) return;
    for (const digest of entry.digests) this.#byDigest.delete(digest);
    this.#byId.delete(id);
  }

  #add(key: StoredKey, at: number): KeyEntry {
    if (this.#byId.size >= MOST_KEYS) this.#makeRoom();
    const entry = { key, principal: principalOf(key), confirmedAt: at, seenAt: at, digests: new Set<string>() };
    this.#byId.set(key.id, entry);
    return entry;
  }

  #makeRoom(): void {
    for (const id of this.#byId.keys().take(MOST_KEYS / 100)) this.forget(id);
  }

  #forgetDigest(entry: KeyEntry, digest: string): void {
    entry.digests.delete(digest);
    this.#byDigest.delete(digest);
  }
}

/** Whether this value of the key counts: the current one, or the one before it in its grace. `now` in Unix milliseconds. */
export function counts(key: StoredKey, digest: string, now: number): boolean {
  return (
    isUsable(key, now) && (key.digest === digest || (key.previous?.digest === digest && now <= key.previous.until))
  );
}

/** What a value of a key is worth to that which it began. `now` in Unix milliseconds. */
export function standingOf(key: StoredKey, { digest, plane }: BegunWith, now: number): Standing {
  const standing = standingOfKey(key, now);
  if (standing === 'revoked') return standing;
  const { previous } = key;
  if (key.digest !== digest && !(previous?.digest === digest && now <= previous.until)) return 'replaced';
  return plane === 'control' && accessOf(key) === 'inference' ? 'narrowed' : standing;
}

/** The value that a request came with, and what it asks of it. */
export interface BegunWith {
  readonly digest: string;
  readonly plane: Plane;
}

/** What a key is worth, whichever its value. */
export function standingOfKey({ active, revokedAt, expiresAt }: StoredKey, now: number): Standing {
  if (!active || revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && now > expiresAt ? 'expired' : 'stands';
}

/** Tells of a key that is over, for good or by its time. */
export function tellEnded(key: StoredKey, now: number, onEnded: OnEnded | undefined): void {
  const standing = standingOfKey(key, now);
  if (standing === 'expired' || standing === 'revoked') onEnded?.({ id: key.id, standing });
}

export function principalOf({ id, name, scopes, limits }: StoredKey): HostPrincipal {
  return new HostPrincipal({ id, name, scopes, ...(Object.keys(limits).length > 0 && { limits }) });
}
