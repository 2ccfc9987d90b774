import { hash } from 'node:crypto';
import type { Timer } from '../../common/clock.ts';
import type { HostPrincipal } from '../../common/host-principal.ts';
import type { ChangeFeed } from '../change-feed.ts';
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
} from './key-record.ts';
import type { KeyRepository, KeyStep, KeyTotals, UsagePage, UsageQuery } from './key-repository.ts';
import { counts, type KeyEntry, KeyTable, principalOf } from './key-table.ts';
import { refuseLockout, refuseSelf, removesAdmin } from './lockout.ts';
import { MemoryKeys } from './memory-keys.ts';
import { Place } from '../place.ts';
import type { StoreDeps } from '../store-deps.ts';
import { LOOKUP_LIMIT_MS, StoreLink, StoreUnavailable } from '../store-link.ts';
import { UseCounts } from './use-counts.ts';
import { writeRows } from '../write-rows.ts';

/** Milliseconds for which a key that was in use goes on being served without its store. See docs/reference/admin.md#stores-that-do-not-answer. */
const SEEN_MS = 60 * 60 * 1000;
/** Uses are written together, this many milliseconds after the first of them. */
const WRITE_BEHIND_MS = 1000;

/**
 * The keys of this gateway: made, changed and ended in a repository, and looked up in memory. Whatever this process changes
 * counts from its next request on. What fails for the store's sake throws `StoreUnavailable`; what a rule refuses, a `GatewayError`.
 */
export class KeyStore {
  readonly link: StoreLink;
  readonly #place = new Place<KeyRepository>('key store', 'memory', new MemoryKeys());
  readonly #table = new KeyTable();
  readonly #uses = new UseCounts();
  readonly #deps: StoreDeps;
  readonly #lookups = new Map<string, Promise<StoredKey | undefined>>();
  #feed: ChangeFeed | undefined;
  /** Counts changes: what was read before the last one is not kept. */
  #changes = 0;
  #writing: Promise<void> = Promise.resolve();
  #due: Timer | undefined;
  #isBehind = false;
  #isClosed = false;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
    this.link = new StoreLink('the key store', { ...deps, backend: () => this.backend });
  }

  get backend(): string {
    return this.#place.backend;
  }

  supply(backend: string, repository: KeyRepository, feed?: ChangeFeed): void {
    this.#place.supply(backend, repository);
    this.#feed = feed;
    feed?.onChange((id) => this.#heard(id));
  }

  seal(): void {
    this.#place.seal();
  }

  async create({ name, scopes, expiresAt, limits = {} }: KeyDraft): Promise<MadeKey> {
    const { key, digest, display } = this.#newValue();
    const stored: StoredKey = {
      id: this.#newId(),
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
    await this.link.ask(() => this.#keys.insert(stored));
    return { key, record: recordOf(stored) };
  }

  async list(): Promise<readonly KeyRecord[]> {
    await this.#flushFirst();
    return (await this.link.ask(() => this.#keys.list())).map((key) => this.#shown(key));
  }

  async get(id: string): Promise<KeyRecord | undefined> {
    await this.#flushFirst();
    const key = await this.link.ask(() => this.#keys.get(id));
    return key && this.#shown(key);
  }

  async usage(query: UsageQuery): Promise<UsagePage<KeyRecord>> {
    await this.#flushFirst();
    const page = await this.link.ask(() => this.#keys.usage(query));
    return { ...page, keys: page.keys.map((key) => this.#shown(key)) };
  }

  async totals(): Promise<KeyTotals> {
    await this.#flushFirst();
    return this.link.ask(() => this.#keys.totals(this.#now()));
  }

  /** `undefined` when there is no such key; so are `revoke` and `rotate`. `callerId` is the credential behind the request. */
  update(id: string, change: KeyChange, callerId: string): Promise<KeyRecord | undefined> {
    const now = this.#now();
    return this.#change(id, removesAdmin(change, now) ? callerId : undefined, (key) => changedKey(key, change));
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

  /** The new value counts at once, and so does the end of the old one, unless it has a grace. */
  async rotate(id: string, rotation: Rotation = {}): Promise<MadeKey | undefined> {
    const { key, ...value } = this.#newValue();
    const record = await this.#change(id, undefined, (old) => rotatedKey(old, value, rotation, this.#now()));
    return record && { key, record };
  }

  /** Whose a credential is that memory holds, counting one use more. `undefined`: ask. */
  find(digest: string): HostPrincipal | undefined {
    const entry = this.#table.byDigest(digest);
    if (!entry || !this.#isServed(entry) || !counts(entry.key, digest, this.#now())) return undefined;
    return this.#used(entry);
  }

  /** Whose a credential is by the store; by memory, where the store is away and the credential was in use a moment ago. */
  async ask(digest: string): Promise<HostPrincipal | undefined> {
    const changes = this.#changes;
    try {
      const key = await this.#look(digest, () => this.#keys.find(digest));
      if (!key || !counts(key, digest, this.#now())) return undefined;
      if (changes === this.#changes) return this.#used(this.#table.keep(key, this.#at(), digest));
      this.#count(key.id);
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

  /** A key by its id, in memory: what a session was made from. `undefined`: ask. */
  parent(id: string): StoredKey | undefined {
    const entry = this.#table.byId(id);
    if (!entry || !this.#isServed(entry)) return undefined;
    entry.seenAt = this.#at();
    return entry.key;
  }

  async askParent(id: string): Promise<StoredKey | undefined> {
    const changes = this.#changes;
    try {
      const key = await this.#look(`id ${id}`, () => this.#keys.get(id));
      if (key && changes === this.#changes) this.#table.keep(key, this.#at());
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

  /** Writes the uses that were counted. What cannot be written stays counted, and is shown all the same. */
  flush(): Promise<void> {
    return (this.#writing = this.#writing.then(() => this.#writeUses()));
  }

  /** Before the repository closes. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#due?.cancel();
    await this.flush();
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

  #newId(): string {
    return this.#deps
      .randomBytes(16)
      .toString('hex')
      .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }

  #newValue(): { readonly key: string; readonly digest: string; readonly display: string } {
    const key = `gw_${this.#deps.randomBytes(32).toString('hex')}`;
    return { key, digest: hash('sha256', key), display: `${key.slice(0, 8)}...` };
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
    let after: StoredKey | undefined;
    try {
      after = await this.link.ask(() => this.#keys.change(id, step));
    } catch (error) {
      if (error instanceof StoreUnavailable) this.#doubt(id);
      throw error;
    }
    this.#forgetLookups();
    if (after) this.#table.replace(after, this.#at());
    else this.#table.forget(id);
    return after && this.#shown(after);
  }

  /** Another process changed a key; without an id, all may be others by now, and the feed says from when on what is read counts. */
  #heard(id: string | undefined): void {
    this.#forgetLookups();
    if (id !== undefined) this.#table.forget(id);
  }

  /** It is not known whether a change was made: the store is asked again, and while it is away the key is as it was. */
  #doubt(id: string): void {
    this.#forgetLookups();
    const entry = this.#table.byId(id);
    if (entry) entry.confirmedAt = Number.NEGATIVE_INFINITY;
  }

  /** One question to the store for all who ask it at the same time. */
  #look(question: string, ask: () => Promise<StoredKey | undefined>): Promise<StoredKey | undefined> {
    const asked = this.#lookups.get(question);
    if (asked) return asked;
    const answer = this.link.ask(ask, LOOKUP_LIMIT_MS).finally(() => {
      if (this.#lookups.get(question) === answer) this.#lookups.delete(question);
    });
    this.#lookups.set(question, answer);
    return answer;
  }

  /** A lookup that began before a change may find the old state: who asks after the change gets a new one. */
  #forgetLookups(): void {
    this.#changes += 1;
    this.#lookups.clear();
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
    this.#count(entry.key.id);
    return entry.principal;
  }

  #count(id: string): void {
    this.#uses.count(id, this.#now());
    if (!this.#due) this.#writeSoon();
  }

  #writeSoon(): void {
    if (this.#isClosed) return;
    this.#due = this.#deps.clock.timer(WRITE_BEHIND_MS, () => {
      this.#due = undefined;
      void this.flush();
    });
  }

  /** So that a page is sorted by what was used until now. */
  async #flushFirst(): Promise<void> {
    if (!this.link.isResting(this.#at())) await this.flush();
  }

  async #writeUses(): Promise<void> {
    if (this.#uses.isEmpty) return;
    const unwritten = await writeRows(this.#uses.take(), {
      write: (uses) => this.link.ask(() => this.#keys.addUses(uses)),
      refused: ({ id, count }, fault) => this.link.refused({ api_key_id: id, uses: count }, fault),
    });
    const wasBehind = this.#isBehind;
    this.#isBehind = unwritten !== undefined;
    if (!unwritten) return;
    const { rows, error } = unwritten;
    this.#uses.giveBack(rows);
    if (!wasBehind)
      this.#deps.log.warn('uses of keys cannot be written, they are counted in memory', { keys: rows.length, error });
    if (!this.#due) this.#writeSoon();
  }

  /** With the uses that were not sent to the store yet. */
  #shown(key: StoredKey): KeyRecord {
    const pending = this.#uses.of(key.id);
    const record = recordOf(key);
    return pending
      ? {
          ...record,
          usageCount: key.usageCount + pending.count,
          lastUsedAt: Math.max(key.lastUsedAt ?? pending.at, pending.at),
        }
      : record;
  }
}
