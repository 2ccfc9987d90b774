import { bounded, MOST_BOOKING } from '../common/bounded-sum.ts';
import type { Ledger, LedgerBounds, Refusal, Reservation, ReservationOrder } from '../contract/index.ts';

interface Account {
  readonly key: string;
  /** Whole micro-dollars, `MOST_SUM` at most. */
  committed: number;
  /** What is below a micro-dollar of all that was booked. */
  rest: number;
  reserved: number;
  /** Calls that hold a reservation. */
  calls: number;
  /** The limit it was last held against. */
  limit: number;
  /** When nothing is asked of it any more, in Unix milliseconds. */
  endsAt: number | undefined;
}

/** Hears what happens to accounts, so that it can be kept elsewhere, and logged. */
export interface LedgerJournal {
  /** Whole micro-dollars, less than 0 where some are given back, and the limit that the account was last held against, and when it ends. */
  booked(key: string, amount: number, limit: number, endsAt: number | undefined): void;
  /** It begins at 0 again. */
  forgot(key: string): void;
  /** An amount that no booking may be: less than 0, more than `MOST_BOOKING`, or not a number. */
  outOfBounds(key: string, amount: number): void;
  /** Unix milliseconds; 0 where accounts that end are kept. */
  now(): number;
}

const KEPT_NOWHERE: LedgerJournal = { booked: () => {}, forgot: () => {}, outOfBounds: () => {}, now: () => 0 };

/** Parts of a micro-dollar that count: finer ones are what binary fractions add. */
const PARTS = 1e6;
/** Milliseconds for which an account is kept after its end: a clock may be set back. And between two looks for such accounts. */
const KEPT_MS = 60 * 60 * 1000;
const LOOK_MS = 60_000;

/** A ledger in the memory of this process. Whatever amounts it is given, its sums are numbers from 0 to `MOST_SUM`. */
export class MemoryLedger implements Ledger {
  readonly #accounts = new Map<string, Account>();
  readonly name: string;
  readonly #journal: LedgerJournal;
  #maxKeys: number;
  #leaves: 'least' | 'oldest';
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor({ maxKeys, leaves = 'least' }: LedgerBounds, journal: LedgerJournal = KEPT_NOWHERE, name = '') {
    this.name = name;
    this.#maxKeys = maxKeys === 0 ? Number.POSITIVE_INFINITY : maxKeys;
    this.#leaves = leaves;
    this.#journal = journal;
  }

  /** Keys that are known. */
  get size(): number {
    return this.#accounts.size;
  }

  /** What is reserved by calls in flight, over all keys. */
  get reserved(): number {
    return this.#accounts.values().reduce((sum, { reserved }) => sum + reserved, 0);
  }

  committed(key: string): number {
    return this.#accounts.get(key)?.committed ?? 0;
  }

  /** What calls in flight of a key hold. */
  reservedOf(key: string): number {
    return this.#accounts.get(key)?.reserved ?? 0;
  }

  reserve(
    key: string,
    { amount, limit = Number.POSITIVE_INFINITY, running = 0, isWhole = false, endsAt }: ReservationOrder,
  ): Reservation | Refusal {
    const account = this.#account(key, endsAt);
    account.limit = limit;
    if (endsAt !== undefined) account.endsAt = endsAt;
    const { committed, reserved } = account;
    if (isWhole && committed + reserved + bounded(amount) > limit) return { isGranted: false, committed, reserved };
    if (!isWhole && committed + reserved + bounded(running) >= limit) return { isGranted: false, committed };
    const held = bounded(amount, MOST_BOOKING); // no more can be booked
    account.reserved += held;
    account.calls += 1;
    return new Held(account, held, this.#journal);
  }

  /** Those that are chosen begin at 0 again. */
  forgetAll(isChosen: (key: string) => boolean): void {
    for (const key of this.#accounts.keys()) if (isChosen(key)) this.#forget(key);
  }

  correct(key: string, amount: number): void {
    const account = this.#account(key);
    if (amount >= 0) book(account, amount, this.#journal);
    else takeBack(account, -amount, this.#journal);
  }

  commit(key: string, amount: number): void {
    book(this.#account(key), amount, this.#journal);
  }

  /** Takes what is kept elsewhere for what is committed. An account that would need the room of another is left out. */
  adopt(key: string, committed: number, limit: number, endsAt?: number): void {
    const known = this.#accounts.get(key);
    const sum = bounded(committed);
    if (known) known.committed = sum;
    else if (this.#accounts.size < this.#maxKeys)
      this.#accounts.set(key, { key, committed: sum, rest: 0, reserved: 0, calls: 0, limit, endsAt });
  }

  /** Other bounds from now on: who does not fit leaves, the lowest spender first. */
  bound({ maxKeys, leaves = 'least' }: LedgerBounds): void {
    this.#leaves = leaves;
    this.#maxKeys = maxKeys === 0 ? Number.POSITIVE_INFINITY : maxKeys;
    const excess = this.#accounts.size - this.#maxKeys;
    if (excess <= 0) return;
    if (leaves === 'oldest') {
      for (let at = 0; at < excess; at += 1) this.#forgetOldest();
      return;
    }
    const leaving = this.#accounts
      .values()
      .filter(mayLeave)
      .toArray()
      .sort((a, b) => a.committed - b.committed);
    for (const { key } of leaving.slice(0, excess)) this.#forget(key);
  }

  #account(key: string, endsAt?: number): Account {
    const known = this.#accounts.get(key);
    if (known && this.#leaves === 'oldest') {
      this.#accounts.delete(key); // the one that asked last stands last
      this.#accounts.set(key, known);
    }
    if (known) return known;
    if (endsAt !== undefined) this.#forgetEnded(this.#journal.now());
    if (this.#accounts.size >= this.#maxKeys) this.#forgetOne();
    const account = { key, committed: 0, rest: 0, reserved: 0, calls: 0, limit: Number.POSITIVE_INFINITY, endsAt };
    this.#accounts.set(key, account);
    return account;
  }

  /** The one that spent least, of those that may start at 0 again. Without any, one key more is kept. */
  #forgetOne(): void {
    if (this.#leaves === 'oldest') return this.#forgetOldest();
    let least: Account | undefined;
    for (const account of this.#accounts.values()) {
      if (!mayLeave(account) || (least && account.committed >= least.committed)) continue;
      least = account;
      if (account.committed === 0) break;
    }
    if (least) this.#forget(least.key);
  }

  #forgetOldest(): void {
    const oldest = this.#accounts.values().find(({ calls }) => calls === 0);
    if (oldest) this.#forget(oldest.key);
  }

  /** What is kept elsewhere stays there. */
  #forgetEnded(now: number): void {
    if (Math.abs(now - this.#lookedAt) < LOOK_MS) return;
    this.#lookedAt = now;
    for (const { key, endsAt, calls } of this.#accounts.values())
      if (endsAt !== undefined && calls === 0 && endsAt + KEPT_MS < now) this.#accounts.delete(key);
  }

  #forget(key: string): void {
    this.#accounts.delete(key);
    this.#journal.forgot(key);
  }
}

const mayLeave = ({ calls, committed, limit }: Account): boolean => calls === 0 && committed < limit;

class Held implements Reservation {
  readonly isGranted = true;
  readonly #account: Account;
  readonly #amount: number;
  readonly #journal: LedgerJournal;
  #isOver = false;

  constructor(account: Account, amount: number, journal: LedgerJournal) {
    this.#account = account;
    this.#amount = amount;
    this.#journal = journal;
  }

  settle(amount: number): void {
    if (this.#giveBack()) book(this.#account, amount, this.#journal);
  }

  release(): void {
    this.#giveBack();
  }

  /** True the first time. */
  #giveBack(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#account.calls -= 1;
    // Sums of fractions leave crumbs behind: without calls nothing is reserved.
    this.#account.reserved = this.#account.calls === 0 ? 0 : this.#account.reserved - this.#amount;
    return true;
  }
}

/** Whole micro-dollars: what is below one stays booked. */
function takeBack(account: Account, amount: number, journal: LedgerJournal): void {
  const whole = Math.min(Math.floor(bounded(amount, MOST_BOOKING)), account.committed);
  account.committed -= whole;
  if (whole > 0) journal.booked(account.key, -whole, account.limit, account.endsAt);
}

function book(account: Account, amount: number, journal: LedgerJournal): void {
  const believed = bounded(amount, MOST_BOOKING);
  if (believed !== amount) journal.outOfBounds(account.key, amount);
  const parts = Math.round((account.rest + believed) * PARTS);
  const whole = Math.floor(parts / PARTS);
  account.committed = bounded(account.committed + whole);
  account.rest = (parts - whole * PARTS) / PARTS;
  if (whole > 0) journal.booked(account.key, whole, account.limit, account.endsAt);
}
