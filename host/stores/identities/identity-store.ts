import { BatchedLookups } from '../batched-lookups.ts';
import { changed, type Found } from '../changes.ts';
import type { ChangeFeed } from '../change-feed.ts';
import { CredentialNotices, SEEN_MS } from '../credential-standing.ts';
import { Place } from '../place.ts';
import type { StoreDeps } from '../store-deps.ts';
import { type StoreLink, StoreUnavailable } from '../store-link.ts';
import type {
  IdentityFilters,
  IdentityPage,
  IdentityRepository,
  IdentityStep,
  StoredIdentity,
} from './identity-record.ts';
import { MemoryIdentities } from './memory-identities.ts';

/** What is known of one: its record, or that it has none. */
export interface KnownIdentity {
  readonly record: StoredIdentity | undefined;
}

interface Entry extends KnownIdentity {
  readonly confirmedAt: number;
  seenAt: number;
}

const MOST_KNOWN = 20_000;

/**
 * People and programs of issuers: who was here, with what claims, and who is blocked. As with keys memory answers, and a store that is away counts as it
 * was for an hour. That one has no record is remembered like a record.
 */
export class IdentityStore {
  /** Tells of identities that are others now. */
  readonly notices = new CredentialNotices();
  readonly #deps: StoreDeps;
  readonly #link: StoreLink;
  readonly #place = new Place<IdentityRepository>('identity store', 'memory', new MemoryIdentities());
  readonly #entries = new Map<string, Entry>();
  readonly #lookups: BatchedLookups<StoredIdentity>;
  #feed: ChangeFeed | undefined;
  #changes = 0;

  /** `link`: how the database of the keys is reached. */
  constructor(deps: StoreDeps, link: StoreLink) {
    this.#deps = deps;
    this.#link = link;
    this.#lookups = new BatchedLookups(
      link,
      async (ids) => new Map((await this.#place.value.findAll(ids)).map((record) => [record.id, record])),
    );
  }

  get backend(): string {
    return this.#place.backend;
  }

  supply(backend: string, repository: IdentityRepository, feed?: ChangeFeed): void {
    this.#place.supply(backend, repository);
    this.#feed = feed;
    feed?.onChange((id) => {
      this.#forget(id);
      this.notices.tell(id);
    });
  }

  seal(): void {
    this.#place.seal();
  }

  /** In memory. `undefined`: ask. */
  find(id: string): KnownIdentity | undefined {
    const entry = this.#entries.get(id);
    if (!entry || !this.#isServed(entry)) return undefined;
    entry.seenAt = this.#at();
    return entry;
  }

  /** By the store; by memory, where it is away and the identity was here within the hour. Throws `StoreUnavailable`. */
  async ask(id: string): Promise<KnownIdentity> {
    const changes = this.#changes;
    try {
      const record = await this.#lookups.find(id);
      return changes === this.#changes ? this.#keep(id, record) : { record };
    } catch (error) {
      const entry = this.#entries.get(id);
      if (!(error instanceof StoreUnavailable) || !entry || !this.#wasSeen(entry)) throw error;
      return entry;
    }
  }

  /** Resolves with what is kept afterwards. */
  async change(id: string, step: IdentityStep): Promise<StoredIdentity | undefined> {
    let after: StoredIdentity | undefined;
    const remembered: IdentityStep = (before) => (after = step(before));
    try {
      const done = await changed(this.#link, this.#deps.clock, {
        make: (pending) => this.#place.value.change(id, remembered, pending),
        look: async (): Promise<Found<StoredIdentity | undefined>> => {
          const [now] = await this.#place.value.findAll([id]);
          return JSON.stringify(now) === JSON.stringify(after) ? { isDone: true, answer: after } : undefined;
        },
      });
      this.#forget(id);
      this.#keep(id, done);
      return done;
    } catch (error) {
      this.#forget(id); // it is not known whether it was done
      throw error;
    } finally {
      this.notices.tell(id);
    }
  }

  page(filters: IdentityFilters, limit: number, offset: number): Promise<IdentityPage> {
    return this.#link.ask(() => this.#place.value.page(filters, limit, offset));
  }

  #at(): number {
    return this.#deps.clock.monotonic();
  }

  #keep(id: string, record: StoredIdentity | undefined): Entry {
    if (this.#entries.size >= MOST_KNOWN)
      for (const old of this.#entries.keys().take(MOST_KNOWN / 100)) this.#entries.delete(old);
    const entry = { record, confirmedAt: this.#at(), seenAt: this.#at() };
    this.#entries.set(id, entry);
    return entry;
  }

  /** Without an id, all of them. */
  #forget(id: string | undefined): void {
    this.#changes += 1;
    this.#lookups.forget();
    if (id === undefined) this.#entries.clear();
    else this.#entries.delete(id);
  }

  #isServed(entry: Entry): boolean {
    return (
      entry.confirmedAt > (this.#feed?.freshSince() ?? Number.NEGATIVE_INFINITY) ||
      (this.#link.isResting(this.#at()) && this.#wasSeen(entry))
    );
  }

  #wasSeen({ seenAt }: Entry): boolean {
    const at = this.#at();
    return at - seenAt <= SEEN_MS && at - this.#link.heardAt <= SEEN_MS;
  }
}
