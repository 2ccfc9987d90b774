import type { HostPrincipal } from '../../common/host-principal.ts';
import type { ChangeFeed } from '../change-feed.ts';
import {
  askedStanding,
  CredentialNotices,
  type OnEnded,
  type Plane,
  SEEN_MS,
  type Standing,
} from '../credential-standing.ts';
import {
  changedKey,
  type KeyChange,
  type KeyDraft,
  type KeyRecord,
  type MadeKey,
  recordOf,
  revokedKey,
  rotatedKey,
  type Rotation,
  type StoredKey,
  withoutGrace,
  type UpdatedKey,
} from './key-record.ts';
import type { Mended } from './doubts.ts';
import { KeyChanges } from './key-changes.ts';
import type {
  KeyFilters,
  KeyPage,
  KeyPlace,
  KeyRepository,
  KeysAfter,
  KeysStep,
  KeyStep,
  KeyTotals,
  UsagePage,
  UsageQuery,
  Uses,
} from './key-repository.ts';
import { Lookups } from './lookups.ts';
import { newId, newValue } from './new-value.ts';
import { counts, type KeyEntry, KeyTable, principalOf, standingOf, tellEnded } from './key-table.ts';
import { refuseLockout, refuseSelf, removesAdmin } from './lockout.ts';
import { MemoryKeys } from './memory-keys.ts';
import { Place } from '../place.ts';
import type { StoreDeps } from '../store-deps.ts';
import { LOOKUP_LIMIT_MS, StoreLink, StoreUnavailable } from '../store-link.ts';
import { UseWriter } from './use-writer.ts';

export interface KeyStoreDeps extends StoreDeps {
  /** A change was mended whose end was not known. */
  readonly mended?: (what: Mended) => void;
}

/**
 * The keys of this gateway: made, changed and ended in a repository, and looked up in memory. Whatever this process changes
 * counts from its next request on. What fails for the store's sake throws `StoreUnavailable`; what a rule refuses, a `GatewayError`.
 */
export class KeyStore {
  readonly link: StoreLink;
  /** Tells of keys that are others now. */
  readonly notices = new CredentialNotices();
  readonly #place = new Place<KeyRepository>('key store', 'memory', new MemoryKeys());
  readonly #table = new KeyTable();
  readonly #uses: UseWriter;
  readonly #deps: StoreDeps;
  readonly #lookups: Lookups;
  readonly #making: KeyChanges;
  #feed: ChangeFeed | undefined;

  constructor(deps: KeyStoreDeps) {
    this.#deps = deps;
    this.link = new StoreLink('the key store', { ...deps, backend: () => this.backend });
    this.#lookups = new Lookups(this.link, async (digests) => byDigest(await this.#keys.findAll(digests)));
    this.#uses = new UseWriter({ ...deps, link: this.link, repository: () => this.#keys });
    this.#making = new KeyChanges({
      ...deps,
      link: this.link,
      repository: () => this.#keys,
      settled: (id, after) => this.#settled(id, after),
    });
  }

  get backend(): string {
    return this.#place.backend;
  }

  /** For the other processes of this gateway, which ask it for what they do not have in memory. */
  get repository(): KeyRepository {
    return this.#place.value;
  }

  /** Monotonic milliseconds since when what was read is still so; `undefined` where no other process changes the store. */
  get freshSince(): number | undefined {
    return this.#feed?.freshSince();
  }

  /** Called before keys are read for people: what other processes of this gateway have counted comes first. */
  beforeReads: (() => Promise<void>) | undefined;

  supply(backend: string, repository: KeyRepository, feed?: ChangeFeed): void {
    this.#place.supply(backend, repository);
    this.#feed = feed;
    feed?.onChange((id) => this.#heard(id));
  }

  /** What an administrator should know of it now, beside whether it answers. */
  get note(): string | undefined {
    return this.#feed?.note?.();
  }

  seal(): void {
    this.#place.seal();
  }

  async create({ name, scopes, expiresAt, limits = {} }: KeyDraft): Promise<MadeKey> {
    const { key, digest, display } = newValue(this.#deps.randomBytes);
    const stored: StoredKey = {
      id: newId(this.#deps.randomBytes),
      digest,
      display,
      name,
      scopes,
      createdAt: this.#now(),
      expiresAt,
      usageCount: 0,
      active: true,
      limits,
    };
    await this.#making.insert(stored);
    return { key, record: recordOf(stored, stored.createdAt) };
  }

  /** A list is read page after page, so that others are served in between. */
  async page(filters: KeyFilters, limit: number, after?: KeyPlace): Promise<KeyPage<KeyRecord>> {
    await this.#flushFirst();
    const { keys, next } = await this.link.ask(() => this.#keys.page(filters, limit, after));
    return { keys: keys.map((key) => this.#uses.shown(key)), next };
  }

  placeOf(id: string): Promise<KeyPlace | undefined> {
    return this.link.ask(() => this.#keys.placeOf(id));
  }

  /** Keys by their ids, in no order. */
  async stored(ids: readonly string[]): Promise<readonly StoredKey[]> {
    return ids.length === 0 ? [] : (await this.link.ask(() => this.#keys.page({ ids }, ids.length))).keys;
  }

  count(filters: KeyFilters): Promise<number> {
    return this.link.ask(() => this.#keys.count(filters));
  }

  accountCounts(): Promise<ReadonlyMap<string, number>> {
    return this.link.ask(() => this.#keys.accountCounts());
  }

  async get(id: string): Promise<KeyRecord | undefined> {
    await this.#flushFirst();
    const key = await this.link.ask(() => this.#keys.get(id));
    return key && this.#uses.shown(key);
  }

  async usage(query: UsageQuery): Promise<UsagePage<KeyRecord>> {
    await this.#flushFirst();
    const page = await this.link.ask(() => this.#keys.usage(query));
    return { ...page, keys: page.keys.map((key) => this.#uses.shown(key)) };
  }

  async totals(): Promise<KeyTotals> {
    await this.#flushFirst();
    return this.link.ask(() => this.#keys.totals(this.#now()));
  }

  /** `undefined` when there is no such key; so are `revoke` and `rotate`. `callerId` is the credential behind the request. */
  async update(id: string, change: KeyChange, callerId: string): Promise<UpdatedKey | undefined> {
    const caller = removesAdmin(change, this.#now()) ? callerId : undefined;
    let before: KeyRecord | undefined;
    const record = await this.#change(id, caller, (key) => {
      before = recordOf(key, this.#now());
      return changedKey(key, change);
    });
    return record && before && { record, before };
  }

  revoke(id: string, callerId: string): Promise<KeyRecord | undefined> {
    return this.#change(id, callerId, (key) => revokedKey(key, this.#now()));
  }

  /** Whether there was one. */
  async delete(id: string, callerId: string): Promise<boolean> {
    let isFound = false;
    await this.#change(id, callerId, () => {
      isFound = true;
      return undefined;
    });
    return isFound;
  }

  /** Changes many keys at once: all of it, or nothing. Sums that begin with them count from the next request on. */
  async changeMany(step: KeysStep): Promise<KeysAfter> {
    let ids: readonly string[] = [];
    const apply: KeysStep['apply'] = (found) => {
      const after = step.apply(found);
      ids = [...[...after.made, ...after.changed].map(({ id }) => id), ...after.removed];
      return after;
    };
    try {
      return await this.#making.changeMany({ ...step, apply });
    } catch (error) {
      if (error instanceof StoreUnavailable) for (const id of ids) this.#doubt(id);
      throw error;
    }
  }

  /** Keys by the digests of their values, in no order. */
  ofDigests(digests: readonly string[]): Promise<readonly StoredKey[]> {
    return this.link.ask(() => this.#keys.findAll(digests));
  }

  newId(): string {
    return newId(this.#deps.randomBytes);
  }

  /** The new value counts at once, and so does the end of the old one, unless it has a grace. */
  async rotate(id: string, rotation: Rotation = {}): Promise<MadeKey | undefined> {
    const { key, ...value } = newValue(this.#deps.randomBytes);
    const record = await this.#change(id, undefined, (old) => rotatedKey(old, value, rotation, this.#now()));
    return record && { key, record };
  }

  /** Ends the grace of the value before the last rotation, where there is one. */
  endGrace(id: string): Promise<KeyRecord | undefined> {
    return this.#change(id, undefined, withoutGrace);
  }

  /** Whose a credential is that memory holds, counting one use more. `undefined`: ask. */
  find(digest: string): HostPrincipal | undefined {
    const entry = this.#table.byDigest(digest);
    if (!entry || !this.#isServed(entry) || !counts(entry.key, digest, this.#now())) return undefined;
    return this.#used(entry);
  }

  /** Whose a credential is by the store; by memory, where the store is away and the credential was in use a moment ago. */
  async ask(digest: string, onEnded?: OnEnded): Promise<HostPrincipal | undefined> {
    const changes = this.#lookups.changes;
    try {
      const key = await this.#lookups.find(digest);
      if (!key) return undefined;
      const now = this.#now();
      if (!counts(key, digest, now)) {
        if (key.digest === digest) tellEnded(key, now, onEnded);
        return undefined;
      }
      if (changes === this.#lookups.changes) return this.#used(this.#table.keep(key, this.#at(), digest));
      this.#uses.count(key.id);
      return principalOf(key);
    } catch (error) {
      const entry = this.#table.byDigest(digest);
      if (
        !(error instanceof StoreUnavailable) ||
        !entry ||
        !this.#wasSeen(entry) ||
        !counts(entry.key, digest, this.#now())
      )
        throw error;
      return this.#used(entry);
    }
  }

  /** What a value that was admitted is worth by now, by memory alone. Not a use. */
  standing(digest: string, id: string, plane: Plane = 'data'): Standing {
    const entry = this.#table.byDigest(digest) ?? this.#table.byId(id);
    if (!entry || !this.#isServed(entry)) return 'unknown';
    const standing = standingOf(entry.key, { digest, plane }, this.#now());
    // What memory has by the id alone may be older than the value: another process rotated it.
    return standing === 'replaced' && !entry.digests.has(digest) ? 'unknown' : standing;
  }

  /** What it is worth by the store. A value that no key has is one that was replaced, where memory has its key. */
  askStanding(digest: string, id: string, plane: Plane = 'data'): Promise<Standing> {
    return askedStanding([this.link], this.#deps.clock, async () => {
      const changes = this.#lookups.changes;
      const key = await this.#lookups.find(digest);
      if (!key) return this.#table.byId(id) ? 'replaced' : 'gone';
      if (changes === this.#lookups.changes) this.#table.keep(key, this.#at(), digest);
      return standingOf(key, { digest, plane }, this.#now());
    });
  }

  /** A key by its id, in memory: what a session was made from. `undefined`: ask. */
  parent(id: string): StoredKey | undefined {
    const entry = this.#table.byId(id);
    if (!entry || !this.#isServed(entry)) return undefined;
    entry.seenAt = this.#at();
    return entry.key;
  }

  async askParent(id: string): Promise<StoredKey | undefined> {
    const changes = this.#lookups.changes;
    try {
      const key = await this.#lookups.ask(`id ${id}`, () => this.#keys.get(id));
      if (key && changes === this.#lookups.changes) this.#table.keep(key, this.#at());
      return key;
    } catch (error) {
      const entry = this.#table.byId(id);
      if (!(error instanceof StoreUnavailable) || !entry || !this.#wasSeen(entry)) throw error;
      return entry.key;
    }
  }

  async ping(): Promise<void> {
    await this.link.ask(() => this.#keys.ping(), LOOKUP_LIMIT_MS);
  }

  /** Counts what another process of this gateway has counted. */
  addUses(uses: readonly Uses[]): void {
    for (const each of uses) this.#uses.count(each.id, each.at, each.count);
  }

  /** Writes the uses that were counted. What cannot be written stays counted, and is shown all the same. */
  flush(): Promise<void> {
    return this.#uses.flush();
  }

  /** Before the repository closes. */
  async close(): Promise<void> {
    await Promise.all([this.#uses.close(), this.#making.close()]);
  }

  get #keys(): KeyRepository {
    return this.#place.value;
  }

  #now(): number {
    return this.#deps.clock.now();
  }

  #at(): number {
    return this.#deps.clock.monotonic();
  }

  /** `callerId` where the guard must agree. Whatever came of it, memory does not go by what it knew. */
  async #change(
    id: string,
    callerId: string | undefined,
    next: (key: StoredKey) => StoredKey | undefined,
  ): Promise<KeyRecord | undefined> {
    if (callerId !== undefined) refuseSelf(id, callerId);
    const now = this.#now();
    const step: KeyStep = {
      countAt: callerId === undefined ? undefined : now,
      apply: (key, usableAdmins) => {
        if (callerId !== undefined) refuseLockout({ target: key, usableAdmins, now });
        return key && next(key);
      },
    };
    try {
      const after = await this.#making.change(id, step);
      return after && this.#uses.shown(after);
    } catch (error) {
      if (error instanceof StoreUnavailable) this.#doubt(id);
      throw error;
    }
  }

  #settled(id: string, after: StoredKey | undefined): Promise<void> | undefined {
    this.#lookups.forget();
    if (after) this.#table.replace(after, this.#at());
    else this.#table.forget(id);
    this.notices.tell(id, after === undefined);
    return this.#deps.spread?.('key', id);
  }

  /** Another process changed a key; without an id, all may be others by now, and the feed says from when on what is read counts. */
  #heard(id: string | undefined): void {
    this.#lookups.forget();
    if (id !== undefined) this.#table.forget(id);
    this.notices.tell(id);
    void this.#deps.spread?.('key', id);
  }

  /** It is not known whether a change was made: the store is asked again, and while it is away the key is as it was. */
  #doubt(id: string): void {
    this.#lookups.forget();
    const entry = this.#table.byId(id);
    if (entry) entry.confirmedAt = Number.NEGATIVE_INFINITY;
    this.notices.tell(id);
    void this.#deps.spread?.('key', id);
  }

  /** Whether memory may answer: the key is in use, and the store would say the same or has just failed to. */
  #isServed(entry: KeyEntry): boolean {
    const at = this.#at();
    if (at - entry.seenAt > SEEN_MS) return false;
    return (
      entry.confirmedAt > (this.#feed?.freshSince() ?? Number.NEGATIVE_INFINITY) ||
      (this.link.isResting(at) && this.#wasSeen(entry))
    );
  }

  /** In use within the hour, and the store was heard of within it. */
  #wasSeen({ seenAt }: KeyEntry): boolean {
    const at = this.#at();
    return at - seenAt <= SEEN_MS && at - this.link.heardAt <= SEEN_MS;
  }

  #used(entry: KeyEntry): HostPrincipal {
    entry.seenAt = this.#at();
    this.#uses.count(entry.key.id);
    return entry.principal;
  }

  /** So that a page is sorted by what was used until now. */
  async #flushFirst(): Promise<void> {
    await this.beforeReads?.();
    if (!this.link.isResting(this.#at())) await this.#uses.flush();
  }
}

/** Each key by both of its values. */
const byDigest = (keys: readonly StoredKey[]): ReadonlyMap<string, StoredKey> =>
  new Map(
    keys.flatMap((key) => [...(key.previous ? [[key.previous.digest, key] as const] : []), [key.digest, key] as const]),
  );
