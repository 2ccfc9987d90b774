import type { Log } from '../../contract/index.ts';
import type { Clock } from '../../common/clock.ts';
import { bounded, MOST_BOOKING } from '../../common/bounded-sum.ts';
import { HOUR_MS, OncePer } from '../../common/once-per.ts';

const MICRO = 1e6;

export interface LedgerLinesDeps {
  readonly clock: Clock;
  readonly log: Log;
}

/** What is logged of numbers that ledgers do not take as they are: once an hour for each key, because what reports one reports many. */
export class LedgerLines {
  readonly #deps: LedgerLinesDeps;
  readonly #said = new OncePer(HOUR_MS);

  constructor(deps: LedgerLinesDeps) {
    this.#deps = deps;
  }

  /** A booking that is less than 0, not a number, or more than one may be. `amount` in micro-dollars. */
  outOfBounds(ledger: string, key: string, amount: number): void {
    if (!this.#isFirst(`booking ${ledger} ${key}`)) return;
    this.#deps.log.warn('a booking is not between 0 and 1,000 US dollars; it is booked as the nearest of them', {
      ledger,
      key,
      amount_usd: shown(amount),
      booked_usd: bounded(amount, MOST_BOOKING) / MICRO,
    });
  }

  /** A stored sum that is not a number. */
  unreadable(ledger: string, key: string): void {
    if (!this.#isFirst(`sum ${ledger} ${key}`)) return;
    this.#deps.log.error(
      'what a key has spent cannot be read from the store of ledgers; it counts as more than any budget',
      { ledger, key },
    );
  }

  #isFirst(what: string): boolean {
    return this.#said.isFirst(what, this.#deps.clock.now());
  }
}

/** In US dollars. JSON knows only numbers that are finite. */
function shown(amount: number): number | string {
  const usd = amount / MICRO;
  return Number.isFinite(usd) ? usd : String(usd);
}
