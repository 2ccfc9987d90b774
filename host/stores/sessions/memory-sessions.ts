import type { SessionRepository, StoredSession } from './session-record.ts';

/** Sessions of this process, gone with it. */
export class MemorySessions implements SessionRepository {
  readonly #sessions = new Map<string, StoredSession>();
  readonly #byDigest = new Map<string, string>();

  async insert(session: StoredSession): Promise<void> {
    this.#sessions.set(session.id, session);
    this.#byDigest.set(session.digest, session.id);
  }

  async look(id: string): Promise<StoredSession | undefined> {
    return this.#sessions.get(id);
  }

  async findAll(digests: readonly string[]): Promise<readonly StoredSession[]> {
    return digests.flatMap((digest) => this.#sessions.get(this.#byDigest.get(digest) ?? '') ?? []);
  }

  async list(): Promise<readonly StoredSession[]> {
    return [...this.#sessions.values()].toSorted(
      (a, b) => b.createdAt - a.createdAt || Number(a.id < b.id) - Number(a.id > b.id),
    );
  }

  async touch(id: string, at: number): Promise<void> {
    const session = this.#sessions.get(id);
    if (session) this.#sessions.set(id, { ...session, lastSeenAt: Math.max(session.lastSeenAt ?? at, at) });
  }

  async delete(id: string): Promise<boolean> {
    const session = this.#sessions.get(id);
    if (session) this.#byDigest.delete(session.digest);
    return this.#sessions.delete(id);
  }

  async deleteAll(): Promise<number> {
    const count = this.#sessions.size;
    this.#sessions.clear();
    this.#byDigest.clear();
    return count;
  }

  async sweep(now: number, idleSince: number): Promise<void> {
    for (const { id, expiresAt, lastSeenAt, createdAt } of this.#sessions.values()) {
      if (expiresAt <= now || (lastSeenAt ?? createdAt) <= idleSince) await this.delete(id);
    }
  }

  async ping(): Promise<void> {}
}
