import type { StoredAccount } from './ledger-repository.ts';

/** What a booking has moved: the whole sum of one key of a ledger. */
export interface SumMove {
  readonly key: string;
  readonly before: number;
  readonly after: number;
}

export type HearSums = (move: SumMove) => void;

interface Booked {
  readonly ledger: string;
  readonly key: string;
  readonly amount: number;
}

/** Who wants to know of sums that move, by the name of the ledger. Without anybody it costs one look. */
export class SumHearing {
  readonly #hearing = new Map<string, readonly HearSums[]>();

  hear(ledger: string, hear: HearSums): void {
    this.#hearing.set(ledger, [...(this.#hearing.get(ledger) ?? []), hear]);
  }

  /** `sum` gives what is booked by now. */
  booked({ ledger, key, amount }: Booked, sum: () => number): void {
    const hear = this.#hearing.get(ledger);
    if (!hear) return;
    const after = sum();
    for (const each of hear) each({ key, before: after - amount, after });
  }

  /** What a store holds of the accounts that were booked in one step. */
  stored(bookings: readonly Booked[], accounts: readonly StoredAccount[]): void {
    if (this.#hearing.size === 0) return;
    const sums = new Map(accounts.map(({ ledger, key, committed }) => [`${ledger} ${key}`, committed]));
    for (const booking of bookings) {
      const sum = sums.get(`${booking.ledger} ${booking.key}`);
      if (sum !== undefined) this.booked(booking, () => sum);
    }
  }
}
