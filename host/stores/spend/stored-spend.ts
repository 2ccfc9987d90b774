import type { StoredLedgers } from '../ledgers/stored-ledgers.ts';
import type { EnteredSpend, SpendEntry } from './spend-entry.ts';
import type { SpendAnswer, SpendLedger, SpendQuestion, SpendRepository } from './spend-ledger.ts';
import type { SpendRow } from './spend-row.ts';

/** Spend that outlives the process: written together with what ledgers book. */
export class StoredSpend implements SpendLedger {
  readonly #ledgers: Pick<StoredLedgers, 'addSpend' | 'enter' | 'read'>;
  readonly #repository: SpendRepository;

  constructor(ledgers: Pick<StoredLedgers, 'addSpend' | 'enter' | 'read'>, repository: SpendRepository) {
    this.#ledgers = ledgers;
    this.#repository = repository;
  }

  add(row: SpendRow): void {
    this.#ledgers.addSpend(row);
  }

  enter(entry: SpendEntry): Promise<EnteredSpend> {
    return this.#ledgers.enter(entry);
  }

  read(question: SpendQuestion, signal?: AbortSignal): Promise<SpendAnswer> {
    return this.#ledgers.read(() => this.#repository.read(question, signal));
  }
}
