import { bounded, MOST_SUM } from '../../common/bounded-sum.ts';
import type { Timer } from '../../common/clock.ts';
import type { LedgerBounds } from '../../contract/index.ts';
import { MemoryLedger } from '../../state/memory-ledger.ts';
import { LedgerSweep } from './ledger-sweep.ts';
import { isBooking, isSpend, type LedgerWrite } from './ledger-write.ts';
import { type HearSums, SumHearing } from './sum-hearing.ts';
import { LedgerLines, type LedgerLinesDeps } from './ledger-lines.ts';
import type { Booking, DrawAnswer, DrawCall, LedgerRepository, StoredAccount } from './ledger-repository.ts';
import { type Ledgers, type Spent, spentIn } from './ledgers.ts';
import type { Opening } from './opening.ts';
import type { StoreDeps } from '../store-deps.ts';
import { OpenSpend } from '../spend/open-spend.ts';
import type { EnteredSpend, SpendEntry } from '../spend/spend-entry.ts';
import type { SpendRow } from '../spend/spend-row.ts';
import { DRAW_LIMIT_MS, Slices } from './slices.ts';
import { StoreLink, StoreUnavailable } from '../store-link.ts';
import { WaitingBookings } from './waiting-bookings.ts';
import type { WriteFault } from '../write-fault.ts';
import { inParts, RowWriter } from '../write-rows.ts';

/** What is booked is written at once, and after a write not sooner than this many milliseconds: what came meanwhile goes together. */
const BETWEEN_WRITES_MS = 100;
/** Milliseconds after which a write that failed is tried again, and after which it is asked what other processes booked. */
const RETRY_MS = 1000;
const ASK_MS = 1000;
/** What other processes wrote in so many milliseconds is read each time: longer than a transaction may take to be seen. */
const OVERLAP_MS = 30_000;
/** Milliseconds after which bookings that the store refused are tried again, with the next write. */
const APART_MS = 3_600_000;
/** Accounts that are one write. */
const BATCH = 500;
/** Milliseconds after its end for which an account is read: a clock may have run ahead. */
const READ_MS = 60 * 60 * 1000;

const ADDED = { isAnew: false };

export interface StoredLedgersDeps extends LedgerLinesDeps, Pick<StoreDeps, 'end'> {
  readonly backend: string;
  /** Hears of each row of spend that lost its key and tags. */
  readonly foldedSpend?: (() => void) | undefined;
  /** What holds for budgets of several processes while the store does not answer; `open` unless said. */
  readonly failure?: 'open' | 'closed' | undefined;
}

/**
 * Ledgers that outlive the process. They answer from memory, so that no request waits; what is booked is written behind, and is lost
 * only with a process that is killed before. Reservations stand in memory alone: those of a dead process are gone with it.
 */
export class StoredLedgers implements Ledgers {
  readonly #repository: LedgerRepository;
  readonly #deps: StoredLedgersDeps;
  readonly #link: StoreLink;
  readonly #lines: LedgerLines;
  readonly #ledgers = new Map<string, MemoryLedger>();
  readonly #waiting = new WaitingBookings();
  readonly #spend: OpenSpend;
  readonly #hearing = new SumHearing();
  readonly #sweep: LedgerSweep;
  readonly #rows: RowWriter<LedgerWrite>;
  /** What this process may spend of budgets that others spend too; `undefined` where there are no others. */
  readonly slices: Slices | undefined;
  #working: Promise<void> = Promise.resolve();
  #flushing: Promise<void> | undefined;
  #due: Timer | undefined;
  #asking: Timer | undefined;
  #writtenAt = Number.NEGATIVE_INFINITY;
  #readAt = Number.NEGATIVE_INFINITY;
  #apartSince = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  private constructor(repository: LedgerRepository, deps: StoredLedgersDeps) {
    this.#repository = repository;
    this.#deps = deps;
    this.#link = new StoreLink('the store of ledgers', { ...deps, backend: () => deps.backend });
    this.#lines = new LedgerLines(deps);
    this.#sweep = new LedgerSweep(repository, this.#link, deps.clock);
    this.#spend = new OpenSpend(deps.foldedSpend ?? (() => {}));
    this.slices =
      repository.draw &&
      new Slices({
        ...deps,
        isAway: () => this.#link.isAway,
        draw: (call) => this.#draw(call),
        unwritten: (ledger, key) => this.#waiting.of(ledger, key)?.amount ?? 0,
      });
    this.#rows = new RowWriter<LedgerWrite>({
      write: async (rows, number) => {
        const [bookings, spend] = [rows.filter(isBooking), rows.filter(isSpend)];
        const accounts = await this.#link.ask(() => this.#repository.book(bookings, number, spend));
        if (repository.isShared) this.#hearing.stored(bookings, accounts);
        this.#take(accounts);
      },
      refused: (row, fault) =>
        isSpend(row)
          ? this.#link.refused({ key: row.key_id, micro_usd: row.micro_usd }, fault)
          : this.#setApart(row, fault),
      cut: (rows) => inParts(rows, BATCH),
    });
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

  /** Counts what an exchange has cost. It is written together with what it booked. */
  addSpend(row: SpendRow): void {
    this.#spend.add(row);
    this.#writeSoon();
  }

  /** A read of the store that finds what waits to be written. Throws a `StoreUnavailable`, at once where the store failed a moment ago. */
  async read<T>(call: () => Promise<T>): Promise<T> {
    const isResting = (): boolean => this.#link.isResting(this.#deps.clock.monotonic());
    if (!isResting()) await this.#flush();
    if (isResting()) throw new StoreUnavailable('the store of ledgers does not answer');
    return this.#link.ask(call);
  }

  /** Reads that come while one waits for its turn share its write. The link logs what fails. */
  #flush(): Promise<void> {
    return (this.#flushing ??= this.#next(() => {
      this.#flushing = undefined;
      return this.#write();
    }));
  }

  /** Enters what was spent elsewhere: it is in the store before this resolves. */
  async enter(entry: SpendEntry): Promise<EnteredSpend> {
    const { promise, resolve, reject } = Promise.withResolvers<EnteredSpend>();
    await this.#next(() =>
      this.#write()
        .then(() => this.#enter(entry))
        .then(resolve, reject),
    );
    return promise;
  }

  peek(name: string, key: string): Spent {
    return spentIn(this.#ledgers.get(name), key);
  }

  /** They are in the store: memory goes by them at once, and by what the store says as soon as it is asked. */
  begin(openings: readonly Opening[]): void {
    for (const { ledger: name, key, amount, limit, endsAt } of openings) {
      const ledger = this.#ledger(name);
      if (ledger.committed(key) === 0) ledger.adopt(key, amount, limit, endsAt);
    }
  }

  forget(name: string, isChosen: (key: string) => boolean): void {
    this.#ledger(name).forgetAll(isChosen);
  }

  hear(name: string, hear: HearSums): void {
    this.#hearing.hear(name, hear);
  }

  /** Writes what waits, before the store closes. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#due?.cancel();
    this.#asking?.cancel();
    await this.#next(() => this.#writeAll());
    await this.slices?.close();
    const { apart } = this.#waiting;
    const keys = this.#rows.held.length + this.#waiting.size + this.#spend.size;
    if (keys > 0) this.#deps.log.error('what was spent is lost: the store of ledgers did not come back', { keys });
    if (apart > 0) this.#deps.log.error('what was spent is lost: the store of ledgers refused it', { keys: apart });
  }

  #ledger(name: string): MemoryLedger {
    const known = this.#ledgers.get(name);
    if (known) return known;
    const note = (key: string, amount: number, limit: number, more: Pick<Booking, 'isAnew' | 'endsAt'>): void => {
      this.#waiting.add({
        ledger: name,
        key,
        amount,
        limit: Number.isFinite(limit) ? Math.ceil(bounded(limit)) : undefined,
        ...more,
      });
      this.#writeSoon();
    };
    const ledger = new MemoryLedger(
      { maxKeys: 0 },
      {
        booked: (key, amount, limit, endsAt) => {
          note(key, amount, limit, endsAt === undefined ? ADDED : { isAnew: false, endsAt });
          if (!this.#repository.isShared)
            this.#hearing.booked({ ledger: name, key, amount }, () => ledger.committed(key));
        },
        forgot: (key) => note(key, 0, Number.POSITIVE_INFINITY, { isAnew: true }),
        outOfBounds: (key, amount) => this.#lines.outOfBounds(name, key, amount),
        now: () => this.#deps.clock.now(),
      },
      name,
    );
    this.#ledgers.set(name, ledger);
    return ledger;
  }

  #writeSoon(): void {
    if (!this.#due) this.#writeIn(Math.max(0, this.#writtenAt + BETWEEN_WRITES_MS - this.#deps.clock.monotonic()));
  }

  #writeIn(ms: number): void {
    if (this.#due || this.#isClosed) return;
    this.#due = this.#deps.clock.timer(ms, () => {
      void this.#next(() => this.#write()).finally(() => this.#writeRest());
    });
  }

  /** What was booked while a write was on its way. */
  #writeRest(): void {
    this.#due = undefined;
    if (this.#rows.holdsAny || this.#waiting.size > 0 || this.#spend.size > 0)
      this.#writeIn(this.#link.isAway ? RETRY_MS : BETWEEN_WRITES_MS);
  }

  #askLater(): void {
    if (this.#isClosed) return;
    this.#asking = this.#deps.clock.timer(ASK_MS, () => {
      void this.#next(() => this.#ask())
        .then(() => this.slices?.keepUp())
        .finally(() => this.#askLater());
    });
  }

  /** One after another, so that what is read holds all that this process wrote. */
  #next(work: () => Promise<void>): Promise<void> {
    return (this.#working = this.#working.then(work));
  }

  async #write(): Promise<void> {
    if (this.#waiting.apart > 0 && this.#deps.clock.monotonic() - this.#apartSince >= APART_MS)
      this.#waiting.tryAgain();
    if (await this.#settled()) {
      const bookings = this.#waiting.take();
      await this.#rows.write([...(this.slices?.written(bookings) ?? bookings), ...this.#spend.take()]); // the link logs what fails
    }
    this.#writtenAt = this.#deps.clock.monotonic();
    if (!this.#isClosed) await this.#sweep.round();
  }

  /** One step after another, so that what the store holds for this process is what it says. The link logs what fails. */
  async #draw(callOf: () => DrawCall): Promise<DrawAnswer | undefined> {
    let answer: DrawAnswer | undefined;
    await this.#next(async () => {
      if (!(await this.#settled())) return;
      const call = callOf();
      answer = await this.#link.ask(async () => this.#repository.draw?.(call), DRAW_LIMIT_MS).catch(() => undefined);
    });
    return answer;
  }

  /** Whether it is known what the store has of all that it was sent. What is not is sent again. */
  async #settled(): Promise<boolean> {
    return !this.#rows.holdsAny || (await this.#rows.write([])) === undefined;
  }

  #writeAll(): Promise<void> {
    this.#waiting.tryAgain();
    return this.#write();
  }

  /** The key goes on spending in memory, and what it spends is kept beside what the store takes. */
  #setApart(booking: Booking, fault: WriteFault): void {
    const { ledger, key, amount } = booking;
    if (this.#waiting.apart === 0) this.#apartSince = this.#deps.clock.monotonic();
    this.#waiting.setApart(booking);
    this.#link.refused({ ledger, key, micro_usd: amount }, fault);
  }

  /** A sum may hold what is in doubt, or not: so that is settled first. The link logs what fails; it is asked again. */
  async #ask(): Promise<void> {
    if (await this.#settled()) await this.#link.ask(() => this.#read()).catch(() => {});
  }

  async #read(): Promise<void> {
    const at = this.#deps.clock.monotonic();
    const isRecent = at - this.#readAt < OVERLAP_MS / 2;
    this.#take(await this.#repository.read(isRecent ? OVERLAP_MS : undefined, this.#deps.clock.now() - READ_MS));
    this.#readAt = at;
  }

  async #enter(entry: SpendEntry): Promise<EnteredSpend> {
    const found = await this.#link.ask(async () => this.#repository.enter?.(entry));
    if (!found) throw new Error('this store of ledgers takes no entries');
    this.#take(found.accounts);
    return found.result;
  }

  /** With what this process booked and has not written yet. */
  #take(accounts: readonly StoredAccount[]): void {
    for (const { ledger, key, committed, limit = Number.POSITIVE_INFINITY, endsAt } of accounts) {
      if (committed === undefined) this.#lines.unreadable(ledger, key);
      const waiting = this.#waiting.of(ledger, key);
      if (!waiting?.isAnew)
        this.#ledger(ledger).adopt(key, (committed ?? MOST_SUM) + (waiting?.amount ?? 0), limit, endsAt);
    }
  }
}
