interface Entry<V> {
  value: V;
  /** Counted toward the bound: key and value. */
  readonly bytes: number;
  readonly until: number;
}

export interface RecentLimits {
  readonly maxKeys: number;
  /** Bytes of all keys and values together; no bound unless said. */
  readonly maxBytes?: number;
}

/**
 * Values by key, each for its time. Where there are too many, or too many bytes of them, the least recently used make
 * room, a hundredth at a time: a flood of new keys costs an eviction every now and then and not one each.
 */
export class Recent<V> {
  readonly #entries = new Map<string, Entry<V>>(); // in order of use
  readonly #maxKeys: number;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor({ maxKeys, maxBytes = Number.POSITIVE_INFINITY }: RecentLimits) {
    this.#maxKeys = maxKeys;
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Bytes of all that is kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Reading is using. */
  get(key: string, now: number): V | undefined {
    const found = this.#entries.get(key);
    if (!found) return undefined;
    this.#entries.delete(key);
    if (found.until > now) {
      this.#entries.set(key, found);
      return found.value;
    }
    this.#bytes -= found.bytes;
    return undefined;
  }

  set(key: string, value: V, bytes: number, until: number): void {
    this.delete(key);
    this.#entries.set(key, { value, bytes, until });
    this.#bytes += bytes;
    if (this.#entries.size > this.#maxKeys) this.#evict(Math.ceil(this.#maxKeys / 100));
    while (this.#bytes > this.#maxBytes) this.#evict(Math.ceil(this.#entries.size / 100));
  }

  delete(key: string): void {
    const found = this.#entries.get(key);
    if (!found) return;
    this.#entries.delete(key);
    this.#bytes -= found.bytes;
  }

  #evict(count: number): void {
    let left = count;
    for (const key of this.#entries.keys()) {
      if (left === 0) return;
      this.delete(key);
      left -= 1;
    }
  }
}
