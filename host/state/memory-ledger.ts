import type { Ledger, LedgerBounds, Refusal, Reservation, ReservationOrder } from '../contract/index.ts';

interface Account {
  /** Whole micro-dollars. */
  committed: number;
  /** What is below a micro-dollar of all that was booked. */
  rest: number;
  reserved: number;
  /** Calls that hold a reservation. */
  calls: number;
  /** The limit it was last held against. */
  limit: number;
}

/** Parts of a micro-dollar that count: finer ones are what binary fractions add. */
const PARTS = 1e6;

/** A ledger in the memory of this process. */
export class MemoryLedger implements Ledger {
  readonly #accounts = new Map<string, Account>();
  readonly #maxKeys: number;

  constructor({ maxKeys }: LedgerBounds) {
    this.#maxKeys = maxKeys === 0 ? Number.POSITIVE_INFINITY : maxKeys;
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

  reserve(key: string, { amount, limit = Number.POSITIVE_INFINITY, running = 0 }: ReservationOrder): Reservation | Refusal {
    const account = this.#account(key);
    account.limit = limit;
    if (account.committed + account.reserved + running >= limit) return { isGranted: false, committed: account.committed };
    account.reserved += amount;
    account.calls += 1;
    return new Held(account, amount);
  }

  commit(key: string, amount: number): void {
    book(this.#account(key), amount);
  }

  #account(key: string): Account {
    const known = this.#accounts.get(key);
    if (known) return known;
    if (this.#accounts.size >= this.#maxKeys) this.#forgetOne();
    const account = { committed: 0, rest: 0, reserved: 0, calls: 0, limit: Number.POSITIVE_INFINITY };
    this.#accounts.set(key, account);
    return account;
  }

  /** The one that spent least, of those that may start at 0 again. Without any, one key more is kept. */
  #forgetOne(): void {
    let least: string | undefined;
    let spent = Number.POSITIVE_INFINITY;
    for (const [key, { committed, limit, calls }] of this.#accounts) {
      if (calls > 0 || committed >= limit || committed >= spent) continue;
      least = key;
      spent = committed;
      if (spent === 0) break;
    }
    if (least !== undefined) this.#accounts.delete(least);
  }
}

class Held implements Reservation {
  readonly isGranted = true;
  readonly #account: Account;
  readonly #amount: number;
  #isOver = false;

  constructor(account: Account, amount: number) {
    this.#account = account;
    this.#amount = amount;
  }

  settle(amount: number): void {
    if (this.#giveBack()) book(this.#account, amount);
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

function book(account: Account, amount: number): void {
  const parts = Math.round((account.rest + amount) * PARTS);
  const whole = Math.floor(parts / PARTS);
  account.committed += whole;
  account.rest = (parts - whole * PARTS) / PARTS;
}
