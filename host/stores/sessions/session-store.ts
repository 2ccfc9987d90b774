import { hash } from 'node:crypto';
import type { Scope } from '../../contract/index.ts';
import { HostPrincipal } from '../../common/host-principal.ts';
import { BatchedLookups } from '../batched-lookups.ts';
import { changed, type Changing, type Found } from '../changes.ts';
import type { ChangeFeed } from '../change-feed.ts';
import { isUsable, type StoredKey } from '../keys/key-record.ts';
import type { KeyStore } from '../keys/key-store.ts';
import { MemorySessions } from './memory-sessions.ts';
import { Place } from '../place.ts';
import {
  isLive,
  SESSION_IDLE_MS,
  SESSION_LIFE_MS,
  type SessionRecord,
  type SessionRepository,
  sessionRecordOf,
  type StoredSession,
} from './session-record.ts';
import type { StoreDeps } from '../store-deps.ts';
import { LOOKUP_LIMIT_MS, StoreLink, StoreUnavailable } from '../store-link.ts';

export const SESSION_PREFIX = 'gws_';

export interface SessionDraft {
  readonly credentialId: string;
  readonly subject: string;
  readonly scopes: readonly Scope[];
}

/** The only time that the token is seen. */
export interface MadeSession {
  readonly token: string;
  readonly session: SessionRecord;
}

/** `active`: the credential that it was made from is still good for it. */
export interface ListedSession extends SessionRecord {
  readonly active: boolean;
}

/** What a session was made from, as it is now: a stored key, or a credential of the environment. */
type Parent = StoredKey | HostPrincipal;

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
const SEEN_MS = 60 * 60 * 1000;
const MOST_SESSIONS = 10_000;

/**
 * Sessions of the dashboard. A session is as good as the credential that it was made from: looked at with every request, with the
 * scopes and limits that it has then.
 */
export class SessionStore {
  readonly link: StoreLink;
  readonly #place = new Place<SessionRepository>('session store', 'memory', new MemorySessions());
  readonly #deps: StoreDeps;
  readonly #keys: KeyStore;
  readonly #environment: (id: string) => HostPrincipal | undefined;
  readonly #lookups: BatchedLookups<StoredSession>;
  readonly #entries = new Map<string, Entry>();
  #feed: ChangeFeed | undefined;
  #changes = 0;

  /** `environment` finds a credential that no store has by its id. */
  constructor(deps: StoreDeps, keys: KeyStore, environment: (id: string) => HostPrincipal | undefined) {
    this.#deps = deps;
    this.#keys = keys;
    this.#environment = environment;
    this.link = new StoreLink('the session store', { ...deps, backend: () => this.backend });
    this.#lookups = new BatchedLookups(
      this.link,
      async (digests) => new Map((await this.#repository.findAll(digests)).map((found) => [found.digest, found])),
    );
  }

  get backend(): string {
    return this.#place.backend;
  }

  supply(backend: string, repository: SessionRepository, feed?: ChangeFeed): void {
    this.#place.supply(backend, repository);
    this.#feed = feed;
    feed?.onChange((id) => this.#forget(id));
  }

  seal(): void {
    this.#place.seal();
  }

  /** Throws `StoreUnavailable` when nothing was made. Dead sessions go on this occasion. */
  async create({ credentialId, subject, scopes }: SessionDraft): Promise<MadeSession> {
    const parent = this.#environment(credentialId) ?? (await this.#keys.askParent(credentialId));
    const now = Math.max(this.#now(), (parent && 'sessionsFrom' in parent && parent.sessionsFrom) || 0);
    const token = `${SESSION_PREFIX}${this.#deps.randomBytes(32).toString('hex')}`;
    const session: StoredSession = {
      id: this.#deps.randomBytes(16).toString('hex'),
      digest: hash('sha256', token),
      credentialId,
      subject,
      scopes,
      createdAt: now,
      expiresAt: now + SESSION_LIFE_MS,
    };
    await changed(this.link, this.#deps.clock, {
      make: (change) => this.#repository.insert(session, change),
      look: async (): Promise<Found<void>> =>
        (await this.#repository.look(session.id)) ? { isDone: true, answer: undefined } : { isDone: false },
    });
    await this.link
      .ask(() => this.#repository.sweep(now, now - SESSION_IDLE_MS))
      .catch((error: unknown) => this.#deps.log.warn('dead sessions could not be removed', { error }));
    return { token, session: sessionRecordOf(session) };
  }

  /** Those that their own bounds have not ended, the newest first. */
  async list(): Promise<readonly ListedSession[]> {
    const now = this.#now();
    const sessions = (await this.link.ask(() => this.#repository.list())).filter((session) => isLive(session, now));
    const parents = new Map<string, Parent | undefined>();
    for (const { credentialId } of sessions) {
      if (!parents.has(credentialId))
        parents.set(credentialId, this.#parent(credentialId) ?? (await this.#keys.askParent(credentialId)));
    }
    return sessions.flatMap((session) => {
      const parent = parents.get(session.credentialId);
      if (isEnded(session, parent)) return [];
      return [{ ...sessionRecordOf(session), active: parent !== undefined && isGood(parent, now) }];
    });
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
  async ask(digest: string): Promise<HostPrincipal | undefined> {
    const entry = await this.#entry(digest);
    if (!entry) return undefined;
    const { credentialId } = entry.session;
    const parent = this.#parent(credentialId) ?? (await this.#keys.askParent(credentialId));
    return parent && this.#admit(entry, parent);
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
    return this.#environment(id) ?? this.#keys.parent(id);
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
      return ended;
    } catch (error) {
      for (const entry of this.#entries.values())
        if (id === undefined || entry.session.id === id) entry.confirmedAt = Number.NEGATIVE_INFINITY; // it is not known whether it was done
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

/** A rotation of its key has ended it. */
function isEnded({ createdAt }: SessionRecord, parent: Parent | undefined): boolean {
  return (
    parent !== undefined &&
    'sessionsFrom' in parent &&
    parent.sessionsFrom !== undefined &&
    createdAt < parent.sessionsFrom
  );
}

function isGood(parent: Parent, now: number): boolean {
  return !('digest' in parent) || isUsable(parent, now);
}

function principalOf(
  { id: sessionId, credentialId: id, subject: name }: StoredSession,
  { scopes, limits }: Parent,
): HostPrincipal {
  return new HostPrincipal({
    id,
    name,
    scopes,
    sessionId,
    ...(limits && Object.keys(limits).length > 0 && { limits }),
  });
}
