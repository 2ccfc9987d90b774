import type { StoredKey } from './key-record.ts';
import { BatchedLookups, type LookUp } from '../batched-lookups.ts';
import { LOOKUP_LIMIT_MS, type StoreLink } from '../store-link.ts';

type Found = StoredKey | undefined;

/** Questions for single keys that are under way at the store. */
export class Lookups {
  readonly #link: StoreLink;
  readonly #byDigest: BatchedLookups<StoredKey>;
  readonly #asked = new Map<string, Promise<Found>>();
  #changes = 0;

  constructor(link: StoreLink, lookUp: LookUp<StoredKey>) {
    this.#link = link;
    this.#byDigest = new BatchedLookups(link, lookUp);
  }

  /** Counts changes: what was read before the last one is not kept. */
  get changes(): number {
    return this.#changes;
  }

  /** By the digest of a credential: one question to the store for all who have one at the same time. */
  find(digest: string): Promise<Found> {
    return this.#byDigest.find(digest);
  }

  /** One question to the store for all who ask it at the same time. */
  ask(question: string, look: () => Promise<Found>): Promise<Found> {
    const asked = this.#asked.get(question);
    if (asked) return asked;
    const answer = this.#link.ask(look, LOOKUP_LIMIT_MS).finally(() => {
      if (this.#asked.get(question) === answer) this.#asked.delete(question);
    });
    this.#asked.set(question, answer);
    return answer;
  }

  /** A lookup that began before a change may find the old state: who asks after the change gets a new one. */
  forget(): void {
    this.#changes += 1;
    this.#byDigest.forget();
    this.#asked.clear();
  }
}
