import type { LedgerBounds, Log } from '../contract/index.ts';
import type { Clock, Timer } from '../common/clock.ts';
import { MemoryLedger } from '../state/memory-ledger.ts';
import type { LedgerRepository, StoredAccount } from './ledger-repository.ts';
import type { Ledgers } from './ledgers.ts';
import { StoreLink } from './store-link.ts';
import { WaitingBookings } from './waiting-bookings.ts';

/** What is booked is written at once, and after a write not sooner than this many milliseconds: what came meanwhile goes together. */
const BETWEEN_WRITES_MS = 100;
/** Milliseconds after which a write that failed is tried again, and after which it is asked what other processes booked. */
const RETRY_MS = 1000;
const ASK_MS = 1000;
/** What other processes wrote in so many milliseconds is read each time: longer than a transaction may take to be seen. */
const OVERLAP_MS = 30_000;

export interface StoredLedgersDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly backend: string;
}

/**
 * Ledgers that outlive the process. They answer from memory, so that no request waits; what is booked is written behind, and is lost
 * only with a process that is killed before. Reservations stand in memory alone: those of a dead process are gone with it.
 */
export class StoredLedgers implements Ledgers {
  readonly #repository: LedgerRepository;
  readonly #deps: StoredLedgersDeps;
  readonly #link: StoreLink;
  readonly #ledgers = new Map<string, MemoryLedger>();
  readonly #waiting = new WaitingBookings();
  #working: Promise<void> = Promise.resolve();
  #due: Timer | undefined;
  #asking: Timer | undefined;
  #writtenAt = Number.NEGATIVE_INFINITY;
  #readAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  private constructor(repository: LedgerRepository, deps: StoredLedgersDeps) {
    this.#repository = repository;
    this.#deps = deps;
    this.#link = new StoreLink('the store of ledgers', { ...deps, backend: () => deps.backend });
  }

  /** With what was spent before. Throws whatever the driver throws. */
  static async load(repository: LedgerRepository, deps: StoredLedgersDeps): Promise<StoredLedgers> {
    const ledgers = new StoredLedgers(repository, deps);
    await ledgers.#read();
    if (repository.isShared) ledgers.#askLater();
    return ledgers;
  }

  open(name: string, bounds: LedgerBounds): MemoryLedger {
    const ledger = this.#ledger(name);
    ledger.bound(bounds);
    return ledger;
  }

  /** Writes what waits, before the store closes. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#due?.cancel();
    this.#asking?.cancel();
    await this.#next(() => this.#write());
    if (this.#waiting.size > 0) this.#deps.log.error('what was spent is lost: the store of ledgers did not come back', { keys: this.#waiting.size });
  }

  #ledger(name: string): MemoryLedger {
    const known = this.#ledgers.get(name);
    if (known) return known;
    const note = (key: string, amount: number, limit: number, isAnew: boolean): void => {
      this.#waiting.add({ ledger: name, key, amount, limit: Number.isFinite(limit) ? limit : undefined, isAnew });
      this.#writeIn(Math.max(0, this.#writtenAt + BETWEEN_WRITES_MS - this.#deps.clock.monotonic()));
    };
    const ledger = new MemoryLedger({ maxKeys: 0 }, {
      booked: (key, amount, limit) => note(key, amount, limit, false),
      forgot: (key) => note(key, 0, Number.POSITIVE_INFINITY, true),
    });
    this.#ledgers.set(name, ledger);
    return ledger;
  }

  #writeIn(ms: number): void {
    if (this.#due || this.#isClosed) return;
    this.#due = this.#deps.clock.timer(ms, () => { void this.#next(() => this.#write()).finally(() => this.#writeRest()); });
  }

  /** What was booked while a write was on its way. */
  #writeRest(): void {
    this.#due = undefined;
    if (this.#waiting.size > 0) this.#writeIn(this.#link.isAway ? RETRY_MS : BETWEEN_WRITES_MS);
  }

  #askLater(): void {
    if (this.#isClosed) return;
    this.#asking = this.#deps.clock.timer(ASK_MS, () => { void this.#next(() => this.#ask()).finally(() => this.#askLater()); });
  }

  /** One after another, so that what is read holds all that this process wrote. */
  #next(work: () => Promise<void>): Promise<void> {
    return (this.#working = this.#working.then(work));
  }

  async #write(): Promise<void> {
    if (this.#waiting.size === 0) return;
    const bookings = this.#waiting.take();
    try {
      this.#take(await this.#link.ask(() => this.#repository.book(bookings)));
    } catch {
      this.#waiting.giveBack(bookings); // the link has logged it
    }
    this.#writtenAt = this.#deps.clock.monotonic();
  }

  /** The link tells of what fails; it is asked again. */
  async #ask(): Promise<void> {
    await this.#link.ask(() => this.#read()).catch(() => {});
  }

  async #read(): Promise<void> {
    const at = this.#deps.clock.monotonic();
    const isRecent = at - this.#readAt < OVERLAP_MS / 2;
    this.#take(await this.#repository.read(isRecent ? OVERLAP_MS : undefined));
    this.#readAt = at;
  }

  /** With what this process booked and has not written yet. */
  #take(accounts: readonly StoredAccount[]): void {
    for (const { ledger, key, committed, limit = Number.POSITIVE_INFINITY } of accounts) {
      const waiting = this.#waiting.of(ledger, key);
      if (!waiting?.isAnew) this.#ledger(ledger).adopt(key, committed + (waiting?.amount ?? 0), limit);
    }
  }
}
