import type { CurrentAccounts } from '../../host/common/accounts/current-accounts.ts';
import { lastChange, nextChange, raisedBy } from '../../host/common/accounts/raise.ts';
import { sumName } from '../../host/common/budgets/counted-sum.ts';
import type { BudgetFacts } from '../../host/common/budgets/key-budget.ts';
import { type Window, Windows } from '../../host/common/budgets/windows.ts';
import type { BudgetLevel, BudgetOwner } from './budget-levels.ts';

/** More room for a time: what administrators gave single keys, accounts and tags. */
export type Raises = Pick<CurrentAccounts, 'version' | 'raisesOf'>;

/** A budget in the window that runs. Its limit holds what it is raised by. */
export interface OpenBudget extends BudgetFacts {
  readonly owner: BudgetOwner;
  /** What its sum is kept under: owner, unit, rule and window are part of it. */
  readonly name: string;
  readonly window: Window;
  /** Set of what may be spent beyond a budget: the name of that one's sum. */
  readonly overOf?: string;
}

interface Known {
  readonly budgets: readonly { readonly owner: BudgetOwner; readonly facts: BudgetFacts; readonly windows: Windows }[];
  open: readonly OpenBudget[];
  /** The windows run, and raises stay as they are, from the one moment until the other. */
  from: number;
  until: number;
  version: number;
}

/** The windows that run. They are looked for when one has ended, or the clock went back before one began, and after a raise; else it takes three comparisons. */
export class OpenBudgets {
  readonly #known = new WeakMap<readonly BudgetLevel[], Known>();
  readonly #raises: () => Raises | undefined;

  constructor(raises: () => Raises | undefined) {
    this.#raises = raises;
  }

  at(now: number, levels: readonly BudgetLevel[]): readonly OpenBudget[] {
    const known = this.#known.get(levels) ?? this.#learn(levels);
    const raises = this.#raises();
    if (now < known.from || now >= known.until || known.version !== (raises?.version ?? 0)) reopen(known, now, raises);
    return known.open;
  }

  #learn(levels: readonly BudgetLevel[]): Known {
    const known: Known = {
      budgets: levels.flatMap(({ owner, budgets }) =>
        budgets.map((facts) => ({ owner, facts, windows: new Windows(facts.rule) })),
      ),
      open: [],
      from: Number.POSITIVE_INFINITY,
      until: Number.NEGATIVE_INFINITY,
      version: 0,
    };
    this.#known.set(levels, known);
    return known;
  }
}

function reopen(known: Known, now: number, raises: Raises | undefined): void {
  let [from, until] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  known.open = known.budgets.map(({ owner, facts, windows }) => {
    const window = windows.at(now);
    const own = raises?.raisesOf(owner.id) ?? [];
    from = Math.max(from, window.beginsAt, lastChange(own, now));
    until = Math.min(until, window.endsAt, nextChange(own, now));
    const name = sumName(owner.prefix, facts, window);
    return { ...facts, limit: facts.limit + raisedBy(own, facts.unit, facts.ruleName, now), owner, window, name };
  });
  known.from = from;
  known.until = until;
  known.version = raises?.version ?? 0;
}

/** What may be spent beyond a budget, by the model that it names. */
export const beyond = (budget: OpenBudget): OpenBudget => ({
  ...budget,
  name: `${budget.name}|over`,
  limit: budget.over?.more ?? 0,
  over: undefined,
  warn: [],
  overOf: budget.name,
});
