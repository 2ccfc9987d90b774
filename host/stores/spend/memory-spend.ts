import { HOUR_MS } from '../../common/once-per.ts';
import type { Ledgers } from '../ledgers/ledgers.ts';
import { OpenSpend } from './open-spend.ts';
import type { SpendAnswer, SpendLedger, SpendQuestion } from './spend-ledger.ts';
import type { EnteredSpend, SpendEntry } from './spend-entry.ts';
import type { SpendRow } from './spend-row.ts';
import { sumSpend } from './sum-spend.ts';

/** Hours that are kept where nothing is stored. */
const KEPT_HOURS = 48;
/** Entries whose keys are known; the oldest leave. */
const MOST_ENTRIES = 20_000;

/** Spend in the memory of this process: of the last two days, and gone with it. */
export class MemorySpend implements SpendLedger {
  readonly #rows: OpenSpend;
  readonly #now: () => number;
  readonly #ledgers: () => Ledgers;
  readonly #entries = new Map<string, SpendEntry>();
  #hour = 0;

  /** @param now Unix milliseconds. */
  constructor(now: () => number, folded: () => void, ledgers: () => Ledgers) {
    this.#now = now;
    this.#ledgers = ledgers;
    this.#rows = new OpenSpend(folded);
  }

  add(row: SpendRow): void {
    this.#forget();
    this.#rows.add(row);
  }

  async read(question: SpendQuestion): Promise<SpendAnswer> {
    this.#forget();
    return sumSpend(this.#rows.rows, question);
  }

  async enter(entry: SpendEntry): Promise<EnteredSpend> {
    const known = this.#entries.get(entry.idempotencyKey);
    if (known) return known.body === entry.body ? { outcome: 'known', at: known.at } : { outcome: 'conflict' };
    if (entry.row.micro_usd < 0 && this.#isBelowZero(entry)) return { outcome: 'below zero' };
    if (this.#entries.size >= MOST_ENTRIES)
      for (const oldest of this.#entries.keys().take(1)) this.#entries.delete(oldest);
    this.#entries.set(entry.idempotencyKey, entry);
    this.add(entry.row);
    for (const { ledger, key, amount } of entry.bookings) this.#ledgers().correct?.(ledger, key, amount);
    return { outcome: 'entered', at: entry.at };
  }

  #isBelowZero({ row, bookings }: SpendEntry): boolean {
    const { account, key_id, micro_usd: micro } = row;
    const filters = key_id === '' ? { account } : { key_id };
    const range = { from: 0, to: Number.MAX_SAFE_INTEGER, edges: [], by: [] };
    const { groups } = sumSpend(this.#rows.rows, { ...range, filters });
    const ledgers = this.#ledgers();
    return (
      groups.reduce((sum, group) => sum + group.micro_usd, micro) < 0 ||
      bookings.some(({ ledger, key, amount }) => ledgers.peek(ledger, key).committed + amount < 0)
    );
  }

  #forget(): void {
    const hour = Math.floor(this.#now() / HOUR_MS);
    if (hour === this.#hour) return;
    this.#hour = hour;
    this.#rows.forget(hour - KEPT_HOURS);
  }
}
