/**
 * What is spent and what is reserved, by key, in micro-dollars (0.000001 US dollars). An amount is
 * from 0 to 1e9 (1,000 US dollars): more counts as that, and less, or what is not a number, as 0.
 * Committed sums are whole, and stop at 2^53 - 1: what is below a micro-dollar is carried to the
 * key's next booking. In memory everything is answered at once; a ledger in a store may take a
 * promise.
 */
export interface Ledger {
  /**
   * Reserves an amount, unless what is committed and reserved has reached the limit already: the
   * call that crosses it is granted, the next one refused.
   *
   * @param key whose spending it is. A key that is new begins at 0.
   * @param order what to hold, and against which limit; a limit may change from call to call.
   * A ledger that other processes spend from too, in a store that does not answer, throws or rejects
   * with a `GatewayError` of `store_unavailable` where it may not decide alone: nothing is held
   * then, and whatever of the request was to be booked still has to be.
   *
   * @returns a reservation, of which `settle` or `release` must be called, or the key can never
   * leave the ledger; or a refusal.
   */
  reserve(key: string, order: ReservationOrder): Reservation | Refusal | Promise<Reservation | Refusal>;
  /** What it was opened by. */
  readonly name?: string;
  /**
   * Adds a difference to what was booked before, which may be less than 0. It takes no more than
   * what is committed. Absent from a ledger that takes no corrections.
   */
  correct?(key: string, amount: number): void | Promise<void>;
  /**
   * Books an amount that nothing was reserved for. It asks no limit: what has been used must be
   * booked even where that goes beyond it.
   */
  commit(key: string, amount: number): void | Promise<void>;
}

/**
 * How much a ledger keeps. The bounds of the first call that asks for a ledger by its name count.
 */
export interface LedgerBounds {
  /**
   * Most keys; 0 means unlimited. At the bound the one that spent least leaves, and starts at 0
   * when it comes back. A key that has reached its limit, or has calls in flight, never leaves.
   */
  readonly maxKeys: number;
  /**
   * Which key leaves at the bound: `least`, the one that spent least, unless said; or `oldest`, the
   * one that has asked for nothing for longest, also where it has reached its limit.
   */
  readonly leaves?: 'least' | 'oldest';
}

/**
 * What is to be put aside for one call, before it is made. Amounts are micro-dollars: a millionth
 * of a US dollar.
 */
export interface ReservationOrder {
  /** What the call may cost at most. */
  readonly amount: number;
  /**
   * What may be spent from the key in all, by every process that spends from the ledger;
   * `undefined` means unlimited, and asks no store.
   */
  readonly limit: number | undefined;
  /**
   * What the request has cost so far without being committed: counts toward the limit, up to 2^53 -
   * 1. 0 unless said. In a loop of tool calls: the turns before this one.
   */
  readonly running?: number;
  /**
   * Grants only what fits whole below the limit: the call that would cross it is refused. `false`
   * unless said.
   */
  readonly isWhole?: boolean;
  /**
   * Unix milliseconds from which nothing is asked of the key any more, where it stands for a
   * stretch of time: what it spent may be forgotten some time after that.
   */
  readonly endsAt?: number | undefined;
}

/** Held for one call. The first of `settle` and `release` counts; neither ever throws. */
export interface Reservation {
  /** Tells a reservation from a refusal. `if (answer.isGranted)` narrows to one or the other. */
  readonly isGranted: true;
  /**
   * Books what the call cost, and gives the rest back. It may be more than was reserved: the
   * estimate was then too low, and the limit is passed by so much.
   */
  settle(amount: number): void | Promise<void>;
  /**
   * Gives everything back: other calls may reserve it from now on, and those of other processes a
   * moment later, where they spend from the same ledger.
   */
  release(): void;
}

/**
 * The answer to an order that does not fit below its limit: nothing is held, and nothing has to be
 * given back.
 */
export interface Refusal {
  /** Tells a refusal from a reservation. */
  readonly isGranted: false;
  /**
   * What the key has spent so far, in micro-dollars, without what is only reserved. Show it in US
   * dollars, by dividing by a million.
   */
  readonly committed: number;
  /**
   * What calls in flight hold of the same key, also those of other processes where the ledger's
   * store knows of them. Of an order that was to fit whole.
   */
  readonly reserved?: number;
}
