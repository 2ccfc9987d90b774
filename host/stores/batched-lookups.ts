import { LOOKUP_LIMIT_MS, type StoreLink } from './store-link.ts';

/** Digests in one statement. */
const MOST_ASKED = 500;

/** What a store has of some digests, by the digest that was asked for. */
export type LookUp<T> = (digests: readonly string[]) => Promise<ReadonlyMap<string, T>>;

/**
 * Looks credentials up, one statement at a time: who asks while one is under way goes with the next, together with all others. So a flood
 * of unknown ones costs one connection, and each is answered by the second statement at the latest.
 */
export class BatchedLookups<T> {
  readonly #link: StoreLink;
  readonly #lookUp: LookUp<T>;
  /** Those whose statement has been sent, and those that wait for the next. */
  #sent = new Map<string, PromiseWithResolvers<T | undefined>>();
  #waiting = new Map<string, PromiseWithResolvers<T | undefined>>();
  #isAsking = false;

  constructor(link: StoreLink, lookUp: LookUp<T>) {
    this.#link = link;
    this.#lookUp = lookUp;
  }

  find(digest: string): Promise<T | undefined> {
    const asked = this.#sent.get(digest) ?? this.#waiting.get(digest);
    if (asked) return asked.promise;
    const question = Promise.withResolvers<T | undefined>();
    this.#waiting.set(digest, question);
    if (!this.#isAsking) void this.#ask();
    return question.promise;
  }

  /** What is under way may find an old state: who asks from here on gets a new answer. */
  forget(): void {
    this.#sent = new Map();
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    while (this.#waiting.size > 0) {
      const batch = new Map(this.#waiting.entries().take(MOST_ASKED));
      for (const digest of batch.keys()) this.#waiting.delete(digest);
      this.#sent = batch;
      await this.#answer(batch);
      if (this.#sent === batch) this.#sent = new Map();
    }
    this.#isAsking = false;
  }

  /** A store that does not answer would not answer those who wait either. */
  async #answer(batch: ReadonlyMap<string, PromiseWithResolvers<T | undefined>>): Promise<void> {
    try {
      const found = await this.#link.ask(() => this.#lookUp([...batch.keys()]), LOOKUP_LIMIT_MS);
      for (const [digest, { resolve }] of batch) resolve(found.get(digest));
    } catch (error) {
      const waiting = this.#waiting;
      this.#waiting = new Map();
      for (const { reject } of [...batch.values(), ...waiting.values()]) reject(error);
    }
  }
}
