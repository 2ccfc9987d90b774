import { hash } from 'node:crypto';
import type { Scope } from '../../contract/index.ts';
import type { HostPrincipal } from '../../common/host-principal.ts';
import { BatchedLookups } from '../batched-lookups.ts';
import { changed, type Changing, type Found } from '../changes.ts';
import type { ChangeFeed } from '../change-feed.ts';
import { askedStanding, CredentialNotices, type OnEnded, SEEN_MS, type Standing } from '../credential-standing.ts';
import type { KeyStore } from '../keys/key-store.ts';
import { tellEnded } from '../keys/key-table.ts';
import { isEnded, isGood, type ListedSession, listedSession, type Parent } from './listed-session.ts';
import { MemorySessions } from './memory-sessions.ts';
import { Place } from '../place.ts';
import {
  isLive,
  SESSION_IDLE_MS,
  SESSION_LIFE_MS,
  type SessionPage,
  type SessionPlace,
  type SessionRecord,
  type SessionRepository,
  sessionRecordOf,
  type StoredSession,
} from './session-record.ts';
import { principalOf, standingOf } from './session-parent.ts';
import type { StoreDeps } from '../store-deps.ts';
import { LOOKUP_LIMIT_MS, StoreLink, StoreUnavailable } from '../store-link.ts';

export const SESSION_PREFIX = 'gws_';

export interface SessionDraft {
  readonly credentialId: string;
  readonly subject: string;
  readonly scopes: readonly Scope[];
  /** Milliseconds that it lives at most; as long as any unless said. */
  readonly lifeMs?: number | undefined;
}

/** The only time that the token is seen. */
export interface MadeSession {
  readonly token: string;
  readonly session: SessionRecord;
}

/** Where credentials are found by their ids that are not stored keys: those of the environment, and people. */
interface OtherParents {
  /** In memory. */
  find(id: string): HostPrincipal | undefined;
  ask(id: string): Promise<HostPrincipal | undefined>;
  /** Whether the key store has none of this id. */
  owns(id: string): boolean;
}

interface Entry {
  session: StoredSession;
  confirmedAt: number;
  /** Monotonic milliseconds of the last use. */
  seenAt: number;
  parent: Parent | undefined;
  principal: HostPrincipal | undefined;
}

/** `last_seen_at` is written when it is this old. See docs/reference/admin.md#sessions. */
const TOUCH_MS = 60_000;
const MOST_SESSIONS = 10_000;

/**
 * Sessions of the dashboard. A session is as good as the credential that it was made from: looked at with every request, with the
 * scopes and limits that it has then.
 */
export class SessionStore {
  readonly link: StoreLink;
  /** Tells of sessions that have ended. */
  readonly notices = new CredentialNotices();
  readonly #place = new Place<SessionRepository>('session store', 'memory', new MemorySessions());
  readonly #deps: StoreDeps;
  readonly #keys: KeyStore;
  readonly #others: OtherParents;
  readonly #lookups: BatchedLookups<StoredSession>;
  readonly #entries = new Map<string, Entry>();
  #feed: ChangeFeed | undefined;
  #changes = 0;

  constructor(deps: StoreDeps, keys: KeyStore, others: OtherParents) {
    this.#deps = deps;
    this.#keys = keys;
    this.#others = others;
    this.link = new StoreLink('the session store', { ...deps, backend: () => this.backend });
    this.#lookups = new BatchedLookups(
      this.link,
      async (digests) => new Map((await this.#repository.findAll(digests)).map((found) => [found.digest, found])),
    );
  }

  get backend(): string {
    return this.#place.backend;
  }

  /** For the other processes of this gateway, which ask it for what they do not have in memory. */
  get repository(): SessionRepository {
    return this.#place.value;
  }

  supply(backend: string, repository: SessionRepository, feed?: ChangeFeed): void {
    this.#place.supply(backend, repository);
    this.#feed = feed;
    feed?.onChange((id) => {
      this.#forget(id);
      this.notices.tell(id);
      void this.#deps.spread?.('session', id);
    });
  }

  seal(): void {
    this.#place.seal();
  }

  /** Throws `StoreUnavailable` when nothing was made. Dead sessions go on this occasion. */
  async create({ credentialId, subject, scopes, lifeMs = SESSION_LIFE_MS }: SessionDraft): Promise<MadeSession> {
    const parent = this.#parent(credentialId) ?? (await this.#askParent(credentialId));
    const now = Math.max(this.#now(), (parent && 'sessionsFrom' in parent && parent.sessionsFrom) || 0);
    const token = `${SESSION_PREFIX}${this.#deps.randomBytes(32).toString('hex')}`;
    const session: StoredSession = {
      id: this.#deps.randomBytes(16).toString('hex'),
      digest: hash('sha256', token),
      credentialId,
      subject,
      scopes,
      createdAt: now,
      expiresAt: now + Math.min(lifeMs, SESSION_LIFE_MS),
    };
    await changed(this.link, this.#deps.clock, {
      make: (change) => this.#repository.insert(session, change),
      look: async (): Promise<Found<void>> =>
        (await this.#repository.look(session.id)) ? { isDone: true, answer: undefined } : { isDone: false },
    });
    if (!this.#feed) await this.#sweep(now); // of a shared store one process does it for all
    return { token, session: sessionRecordOf(session) };
  }

  /** The newest first, from `after` on. Those that their own bounds have ended are left out, so that a page may have fewer than `limit`. */
  async page(limit: number, after?: SessionPlace): Promise<SessionPage<ListedSession>> {
    const now = this.#now();
    const { sessions, next } = await this.link.ask(() => this.#repository.page(limit, after));
    const live = sessions.filter((session) => isLive(session, now));
    const parents = await this.#parents(new Set(live.map(({ credentialId }) => credentialId)));
    return { sessions: live.flatMap((session) => listedSession(session, parents, now) ?? []), next };
  }

  placeOf(id: string): Promise<SessionPlace | undefined> {
    return this.link.ask(() => this.#repository.placeOf(id));
  }

  /** When the newest one of a credential was made. */
  newestOf(credentialId: string): Promise<number | undefined> {
    return this.link.ask(() => this.#repository.newestOf(credentialId));
  }

  /** Whether there was one. */
  async delete(id: string): Promise<boolean> {
    return this.#end(id, {
      make: (change) => this.#repository.delete(id, change),
      look: async (): Promise<Found<boolean>> =>
        (await this.#repository.look(id)) ? { isDone: false } : { isDone: true, answer: true },
    });
  }

  /** How many there were, dead ones included. */
  deleteAll(): Promise<number> {
    return this.#end(undefined, {
      make: (change) => this.#repository.deleteAll(change),
      look: async () => undefined, // others may have been made meanwhile
    });
  }

  /** Whose session it is, by the digest of its token, when all that must be known is in memory. `undefined`: ask. */
  find(digest: string): HostPrincipal | undefined {
    const entry = this.#entries.get(digest);
    if (!entry || !this.#isServed(entry)) return undefined;
    const parent = this.#parent(entry.session.credentialId);
    return parent && this.#admit(entry, parent);
  }

  /** Whose a session is by the stores; by memory, where one is away and the session was in use a moment ago. */
  async ask(digest: string, onEnded?: OnEnded): Promise<HostPrincipal | undefined> {
    const entry = await this.#entry(digest);
    if (!entry) return undefined;
    const { credentialId } = entry.session;
    const parent = this.#parent(credentialId) ?? (await this.#askParent(credentialId));
    const principal = parent && this.#admit(entry, parent);
    if (parent && 'active' in parent && !principal && isLive(entry.session, this.#now()))
      tellEnded(parent, this.#now(), onEnded);
    return principal;
  }

  /** What a session that was admitted is worth by now, by memory alone. Not a use. */
  standing(digest: string): Standing {
    const entry = this.#entries.get(digest);
    if (!entry || !this.#isServed(entry)) return 'unknown';
    return standingOf(entry.session, this.#parent(entry.session.credentialId), this.#now()) ?? 'unknown';
  }

  /** What it is worth by the stores. */
  askStanding(digest: string): Promise<Standing> {
    return askedStanding([this.link, this.#keys.link], this.#deps.clock, async () => {
      const entry = await this.#entry(digest);
      if (!entry) return 'gone';
      const { credentialId } = entry.session;
      const parent = this.#parent(credentialId) ?? (await this.#askParent(credentialId));
      return standingOf(entry.session, parent, this.#now()) ?? 'gone';
    });
  }

  async ping(): Promise<void> {
    await this.link.ask(() => this.#repository.ping(), LOOKUP_LIMIT_MS);
  }

  get #repository(): SessionRepository {
    return this.#place.value;
  }

  #now(): number {
    return this.#deps.clock.now();
  }

  #parent(id: string): Parent | undefined {
    return this.#others.find(id) ?? (this.#others.owns(id) ? undefined : this.#keys.parent(id));
  }

  async #askParent(id: string): Promise<Parent | undefined> {
    return this.#others.owns(id) ? this.#others.ask(id) : this.#keys.askParent(id);
  }

  async #sweep(now: number): Promise<void> {
    await this.link
      .ask(() => this.#repository.sweep(now, SESSION_IDLE_MS, Number.MAX_SAFE_INTEGER))
      .catch((error: unknown) => this.#deps.log.warn('dead sessions could not be removed', { error }));
  }

  /** Those that memory does not hold are asked for together. */
  async #parents(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, Parent>> {
    const parents = new Map<string, Parent>();
    for (const id of ids) {
      const parent = this.#parent(id);
      if (parent) parents.set(id, parent);
    }
    const [people = [], others = []] = [true, false].map((isOther) =>
      [...ids].filter((id) => !parents.has(id) && this.#others.owns(id) === isOther),
    );
    for (const key of await this.#keys.stored(others)) parents.set(key.id, key);
    for (const id of people) {
      const parent = await this.#others.ask(id);
      if (parent) parents.set(id, parent);
    }
    return parents;
  }

  async #entry(digest: string): Promise<Entry | undefined> {
    const known = this.#entries.get(digest);
    const changes = this.#changes;
    try {
      const session = lastSeenOf(await this.#lookups.find(digest), this.#entries.get(digest) ?? known);
      const at = this.#deps.clock.monotonic();
      if (!session) this.#entries.delete(digest);
      const entry = session && { session, confirmedAt: at, seenAt: at, parent: undefined, principal: undefined };
      if (entry && changes === this.#changes) this.#keep(digest, entry);
      return entry;
    } catch (error) {
      if (error instanceof StoreUnavailable && known && this.#wasSeen(known)) return known;
      throw error;
    }
  }

  #keep(digest: string, entry: Entry): void {
    if (this.#entries.size >= MOST_SESSIONS)
      for (const old of this.#entries.keys().take(MOST_SESSIONS / 100)) this.#entries.delete(old);
    this.#entries.set(digest, entry);
  }

  #isServed(entry: Entry): boolean {
    return (
      entry.confirmedAt > (this.#feed?.freshSince() ?? Number.NEGATIVE_INFINITY) ||
      (this.link.isResting(this.#deps.clock.monotonic()) && this.#wasSeen(entry))
    );
  }

  #wasSeen({ seenAt }: Entry): boolean {
    const at = this.#deps.clock.monotonic();
    return at - seenAt <= SEEN_MS && at - this.link.heardAt <= SEEN_MS;
  }

  /** Who it is, when neither the session nor its credential is over. */
  #admit(entry: Entry, parent: Parent): HostPrincipal | undefined {
    const now = this.#now();
    const { session } = entry;
    if (!isLive(session, now) || isEnded(session, parent) || !isGood(parent, now)) return undefined;
    entry.seenAt = this.#deps.clock.monotonic();
    if (now - (session.lastSeenAt ?? session.createdAt) >= TOUCH_MS) this.#touch(entry, now);
    if (entry.parent !== parent || !entry.principal) {
      entry.parent = parent;
      entry.principal = principalOf(session, parent);
    }
    return entry.principal;
  }

  #touch(entry: Entry, now: number): void {
    entry.session = { ...entry.session, lastSeenAt: now };
    const { id } = entry.session;
    this.link
      .ask(() => this.#repository.touch(id, now))
      .catch((error: unknown) => this.#deps.log.warn('the last use of a session could not be written', { error }));
  }

  async #end<T>(id: string | undefined, end: Changing<T>): Promise<T> {
    try {
      const ended = await changed(this.link, this.#deps.clock, end);
      this.#forget(id);
      this.notices.tell(id, true);
      await this.#deps.spread?.('session', id);
      return ended;
    } catch (error) {
      for (const entry of this.#entries.values())
        if (id === undefined || entry.session.id === id) entry.confirmedAt = Number.NEGATIVE_INFINITY; // it is not known whether it was done
      this.notices.tell(id);
      void this.#deps.spread?.('session', id);
      throw error;
    }
  }

  /** Without an id, all of them. */
  #forget(id: string | undefined): void {
    this.#changes += 1;
    this.#lookups.forget();
    for (const [digest, { session }] of this.#entries)
      if (id === undefined || session.id === id) this.#entries.delete(digest);
  }
}

/** With the last use that memory knows of: its writing may be on its way. */
function lastSeenOf(session: StoredSession | undefined, known: Entry | undefined): StoredSession | undefined {
  const seen = known?.session.lastSeenAt;
  return session && seen !== undefined && seen > (session.lastSeenAt ?? session.createdAt)
    ? { ...session, lastSeenAt: seen }
    : session;
}
