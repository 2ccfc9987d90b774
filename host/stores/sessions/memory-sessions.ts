import { NewestFirst } from '../keys/newest-first.ts';
import type { SessionPage, SessionPlace, SessionRepository, StoredSession } from './session-record.ts';

/** Sessions of this process, gone with it. */
export class MemorySessions implements SessionRepository {
  readonly #sessions = new Map<string, StoredSession>();
  readonly #byDigest = new Map<string, string>();
  readonly #order = new NewestFirst();

  async insert(session: StoredSession): Promise<void> {
    this.#sessions.set(session.id, session);
    this.#order.add(session);
    this.#byDigest.set(session.digest, session.id);
  }

  async look(id: string): Promise<StoredSession | undefined> {
    return this.#sessions.get(id);
  }

  async findAll(digests: readonly string[]): Promise<readonly StoredSession[]> {
    return digests.flatMap((digest) => this.#sessions.get(this.#byDigest.get(digest) ?? '') ?? []);
  }

  async page(limit: number, after?: SessionPlace): Promise<SessionPage<StoredSession>> {
    const found = this.#order
      .behind(after)
      .map((id) => this.#sessions.get(id))
      .filter((session) => session !== undefined)
      .take(limit + 1)
      .toArray();
    const sessions = found.slice(0, limit);
    return { sessions, next: found.length > limit ? sessions.at(-1) : undefined };
  }

  async placeOf(id: string): Promise<SessionPlace | undefined> {
    return this.#sessions.get(id);
  }

  async newestOf(credentialId: string): Promise<number | undefined> {
    return this.#order
      .behind()
      .map((id) => this.#sessions.get(id))
      .find((session) => session?.credentialId === credentialId)?.createdAt;
  }

  async touch(id: string, at: number): Promise<void> {
    const session = this.#sessions.get(id);
    if (session) this.#sessions.set(id, { ...session, lastSeenAt: Math.max(session.lastSeenAt ?? at, at) });
  }

  async delete(id: string): Promise<boolean> {
    const session = this.#sessions.get(id);
    if (!session) return false;
    this.#byDigest.delete(session.digest);
    this.#order.remove(session);
    return this.#sessions.delete(id);
  }

  async deleteAll(): Promise<number> {
    const count = this.#sessions.size;
    this.#sessions.clear();
    this.#byDigest.clear();
    this.#order.clear();
    return count;
  }

  async sweep(now: number, idleMs: number, most: number): Promise<number> {
    const over = this.#sessions
      .values()
      .filter(({ expiresAt, lastSeenAt, createdAt }) => expiresAt <= now || (lastSeenAt ?? createdAt) <= now - idleMs)
      .take(most)
      .toArray();
    for (const { id } of over) await this.delete(id);
    return over.length;
  }

  async ping(): Promise<void> {}
}
