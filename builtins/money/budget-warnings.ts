import { WINDOWS } from '../../host/common/budgets/counted-sum.ts';
import type { BudgetMove } from '../../host/common/budgets/budget-move.ts';
import type { Ledgers } from '../../host/stores/ledgers/ledgers.ts';
import type { SumMove } from '../../host/stores/ledgers/sum-hearing.ts';
import type { OpenBudget } from './open-budgets.ts';

export interface BudgetWarningsDeps {
  /** Hears of each share that is reached. */
  readonly moved: (move: BudgetMove) => void;
  readonly now: () => number;
}

interface Watched {
  budget: OpenBudget;
  /** Ratios of its limit that were said. */
  readonly told: Set<number>;
}

/** Budgets that are watched; of more, those that were watched first are let go. */
const MOST = 100_000;
/** Milliseconds after its end for which a window is watched: a booking may come late. */
const LATE_MS = 60_000;

/**
 * Says when what is booked in a budget reaches one of the ratios at which a warning is asked for. The booking that crosses it says so: where
 * processes share a store, each hears only of sums that its own bookings moved, and so it is said once by all of them.
 */
export class BudgetWarnings {
  readonly #deps: BudgetWarningsDeps;
  readonly #watched = new Map<string, Watched>();
  #heard: Ledgers | undefined;

  constructor(deps: BudgetWarningsDeps) {
    this.#deps = deps;
  }

  /** From now on, once. */
  listen(ledgers: Ledgers): void {
    if (this.#heard === ledgers) return;
    this.#heard = ledgers;
    ledgers.hear?.(WINDOWS, (move) => this.#moved(move));
  }

  /** A budget that is about to be booked. */
  watch(budget: OpenBudget): void {
    const known = this.#watched.get(budget.name);
    if (known) known.budget = budget;
    else {
      if (this.#watched.size >= MOST) this.#letGo();
      this.#watched.set(budget.name, { budget, told: new Set() });
    }
  }

  #moved({ key, before, after }: SumMove): void {
    const watched = this.#watched.get(key);
    if (!watched) return;
    const { limit, warn } = watched.budget;
    for (const ratio of warn)
      if (before < ratio * limit && after >= ratio * limit && !watched.told.has(ratio)) {
        watched.told.add(ratio);
        this.#tell(watched.budget, ratio, after);
      }
  }

  #tell(
    { owner: { kind, id }, name, unit, ruleName, limit, rule, window }: OpenBudget,
    threshold: number,
    spent: number,
  ): void {
    this.#deps.moved({
      budget: name,
      of: { kind, id },
      unit,
      threshold,
      spent,
      limit,
      window: { rule: ruleName, endsAt: rule.kind === 'total' ? undefined : window.endsAt },
    });
  }

  /** Those whose window is over, else the first. */
  #letGo(): void {
    const over = this.#deps.now() - LATE_MS;
    for (const [name, { budget }] of this.#watched) if (budget.window.endsAt < over) this.#watched.delete(name);
    const [first] = this.#watched.keys();
    if (this.#watched.size >= MOST && first !== undefined) this.#watched.delete(first);
  }
}
