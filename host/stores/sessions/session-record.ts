import type { Scope } from '../../contract/index.ts';
import type { PendingChange } from '../changes.ts';

/** From its creation on. */
export const SESSION_LIFE_MS = 24 * 60 * 60 * 1000;
/** Without use. */
export const SESSION_IDLE_MS = 60 * 60 * 1000;

/** A session of the dashboard. Times are Unix milliseconds. */
export interface SessionRecord {
  readonly id: string;
  /** Id of the key, or the master key, that it was made from. */
  readonly credentialId: string;
  /** Name of that credential at the time. */
  readonly subject: string;
  /** Those of the credential at the time; in force are those that it has now. */
  readonly scopes: readonly Scope[];
  readonly createdAt: number;
  /** Absent in the first minute. */
  readonly lastSeenAt?: number | undefined;
  readonly expiresAt: number;
}

export interface StoredSession extends SessionRecord {
  /** SHA-256 of the token, in hex. */
  readonly digest: string;
}

/** Both bounds; at the moment itself it is over. What its credential says is another question. */
export function isLive({ createdAt, lastSeenAt, expiresAt }: SessionRecord, now: number): boolean {
  return now < expiresAt && now - (lastSeenAt ?? createdAt) < SESSION_IDLE_MS;
}

export function sessionRecordOf({ digest: _digest, ...record }: StoredSession): SessionRecord {
  return record;
}

/** Where a session stands in the list, as its repository writes it. */
export interface SessionPlace {
  readonly createdAt: string | number;
  readonly id: string;
}

export interface SessionPage<S> {
  readonly sessions: readonly S[];
  /** The place of the last session, where others stand behind it. */
  readonly next: SessionPlace | undefined;
}

/** Where sessions are kept, as `KeyRepository` keeps keys. */
export interface SessionRepository {
  insert(session: StoredSession, change?: PendingChange): Promise<void>;
  /** A session once every change that was begun has ended, also that of another process. */
  look(id: string): Promise<StoredSession | undefined>;
  /** By the digests of tokens. */
  findAll(digests: readonly string[]): Promise<readonly StoredSession[]>;
  /** Newest first, then by id downwards, those that stand behind `after`; dead ones included. */
  page(limit: number, after?: SessionPlace): Promise<SessionPage<StoredSession>>;
  /** `undefined` when there is no such session. */
  placeOf(id: string): Promise<SessionPlace | undefined>;
  /** When the newest one of a credential was made, dead ones included; `undefined` without any. */
  newestOf(credentialId: string): Promise<number | undefined>;
  touch(id: string, at: number): Promise<void>;
  /** Whether there was one. */
  delete(id: string, change?: PendingChange): Promise<boolean>;
  /** How many there were. */
  deleteAll(change?: PendingChange): Promise<number>;
  /**
   * Forgets at most `most` of those that expired by `now` or were not used for `idleMs`, and says how many. A database that several processes use
   * goes by its own clock instead of `now`.
   */
  sweep(now: number, idleMs: number, most: number): Promise<number>;
  ping(): Promise<void>;
}
