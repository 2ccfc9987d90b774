/** What can be shared. */
export interface Closable {
  close(): Promise<void>;
}

/** A share of something: `close` gives it back. */
export interface Share<T> extends Closable {
  readonly value: T;
}

interface Held {
  readonly opening: Promise<Closable>;
  holders: number;
}

/** What stores have in common though each is opened by itself: the lock of a file, for example. Opened for the first that asks for it, closed behind the last. */
export class SharedResources {
  readonly #held = new Map<string, Held>();

  /** `key` says what is opened, and so of which type it is. */
  async lease<T extends Closable>(key: string, open: () => Promise<T>): Promise<Share<T>> {
    const held = this.#held.get(key) ?? { opening: open(), holders: 0 };
    this.#held.set(key, held);
    held.holders += 1;
    try {
      const value = (await held.opening) as T;
      let isBack = false;
      return {
        value,
        close: async () => {
          if (isBack) return;
          isBack = true;
          if (this.#giveBack(key, held)) await value.close();
        },
      };
    } catch (error) {
      this.#giveBack(key, held);
      throw error;
    }
  }

  /** Whether that was the last share. */
  #giveBack(key: string, held: Held): boolean {
    held.holders -= 1;
    if (held.holders === 0) this.#held.delete(key);
    return held.holders === 0;
  }
}
