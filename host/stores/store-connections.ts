/** Connections to a database: those that are used, those that are idle, and how many wait for one. */
export interface ConnectionCounts {
  readonly used: number;
  readonly idle: number;
  readonly waiting: number;
}

/** What stores hold of their databases, for figures. */
export class StoreConnections {
  readonly #pools = new Set<() => ConnectionCounts>();

  /** Returns the function that takes it out again. */
  add(counts: () => ConnectionCounts): () => void {
    this.#pools.add(counts);
    return () => this.#pools.delete(counts);
  }

  /** Over all pools; `undefined` while there is none. */
  get counts(): ConnectionCounts | undefined {
    if (this.#pools.size === 0) return undefined;
    const all = this.#pools
      .values()
      .map((counts) => counts())
      .toArray();
    const sum = (state: keyof ConnectionCounts): number => all.reduce((total, counts) => total + counts[state], 0);
    return { used: sum('used'), idle: sum('idle'), waiting: sum('waiting') };
  }
}
