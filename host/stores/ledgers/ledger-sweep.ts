import type { Clock } from '../../common/clock.ts';
import type { StoreLink } from '../store-link.ts';
import type { LedgerRepository } from './ledger-repository.ts';

/** Milliseconds after its end for which the row of an account is kept: a clock may have run ahead. */
export const KEPT_MS = 35 * 24 * 60 * 60 * 1000;
/** Milliseconds between two rounds. */
const SWEEP_MS = 60 * 60 * 1000;
/** Accounts of one round. */
const MOST = 500;

/** Removes what ended long ago. Of a store that processes share its upkeep does it. */
export class LedgerSweep {
  readonly #repository: LedgerRepository;
  readonly #link: StoreLink;
  readonly #clock: Clock;
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(repository: LedgerRepository, link: StoreLink, clock: Clock) {
    this.#repository = repository;
    this.#link = link;
    this.#clock = clock;
  }

  /** The link logs what fails; it is tried again in an hour. */
  async round(): Promise<void> {
    const repository = this.#repository;
    if (repository.isShared || !repository.sweep || this.#clock.monotonic() - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = this.#clock.monotonic();
    await this.#link.ask(async () => repository.sweep?.(this.#clock.now() - KEPT_MS, MOST)).catch(() => {});
  }
}
