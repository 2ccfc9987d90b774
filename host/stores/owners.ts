/** What has an owner: files and batches, or responses. */
export type OwnedKind = 'file' | 'response';

/** Whose what is that providers keep under an id: the credential that it was made with. */
export interface Owners {
  /** Remembers an owner. What has one keeps it. */
  add(kind: OwnedKind, ids: readonly string[], owner: string): Promise<void>;
  /** Those that are known to be another's: none that was made elsewhere, or before owners were kept. */
  foreignOf(kind: OwnedKind, ids: readonly string[], owner: string): Promise<ReadonlySet<string>>;
}

/** Owners that are remembered; of more, the oldest are forgotten. */
const MOST = 100_000;

/** Owners of this process, forgotten with it. */
export class MemoryOwners implements Owners {
  readonly #owners = new Map<string, string>();

  async add(kind: OwnedKind, ids: readonly string[], owner: string): Promise<void> {
    for (const id of ids) {
      const key = `${kind} ${id}`;
      if (this.#owners.has(key)) continue;
      const [oldest] = this.#owners.keys();
      if (this.#owners.size >= MOST && oldest !== undefined) this.#owners.delete(oldest);
      this.#owners.set(key, owner);
    }
  }

  async foreignOf(kind: OwnedKind, ids: readonly string[], owner: string): Promise<ReadonlySet<string>> {
    return new Set(ids.filter((id) => (this.#owners.get(`${kind} ${id}`) ?? owner) !== owner));
  }
}
