import type { Log } from '../../host/contract/index.ts';
import { isTagPattern } from '../../host/common/accounts/account-path.ts';
import type { AccountTree } from '../../host/common/accounts/account-tree.ts';
import type { CurrentAccounts } from '../../host/common/accounts/current-accounts.ts';
import { WINDOWS } from '../../host/common/budgets/counted-sum.ts';
import type { Gauges } from '../../host/state/counters.ts';
import type { Ledgers } from '../../host/stores/ledgers/ledgers.ts';
import { accountLevel, type BudgetLevel } from './budget-levels.ts';
import { OpenBudgets } from './open-budgets.ts';

/** Budgets that the figure tells apart; further ones have none, those of the deepest accounts first. */
const MOST_SERIES = 1000;

interface Known {
  readonly tree: AccountTree;
  readonly levels: readonly BudgetLevel[];
  readonly leftOut: number;
}

/** How much of each budget of accounts and tags is spent, by memory, as admission goes by it. Patterns have a sum for each value, and so no figure. */
export class UsedRatios {
  readonly #windows: OpenBudgets;
  #accounts: CurrentAccounts | undefined;
  #known: Known | undefined;
  #isTold = false;

  constructor() {
    this.#windows = new OpenBudgets(() => this.#accounts);
  }

  set(
    gauges: Gauges,
    accounts: CurrentAccounts,
    ledgers: Pick<Ledgers, 'peek'>,
    { now, log }: { now: number; log: Log },
  ): void {
    this.#accounts = accounts;
    const tree = accounts.tree();
    if (tree.isEmpty) return;
    if (this.#known?.tree !== tree) this.#known = levelsOf(tree);
    const { levels, leftOut } = this.#known;
    if (leftOut > 0 && !this.#isTold) {
      this.#isTold = true;
      log.warn('some budgets have no figure', { figure: 'gateway_budget_used_ratio', budgets: leftOut });
    }
    for (const { owner, name, unit, ruleName, limit } of this.#windows.at(now, levels)) {
      const { committed } = ledgers.peek(WINDOWS, name);
      const ratio = limit > 0 ? committed / limit : 1; // nothing may be spent: nothing is left
      gauges.set('gateway_budget_used_ratio', { account: owner.id, unit, window: ruleName }, ratio);
    }
  }
}

function levelsOf(tree: AccountTree): Known {
  const levels: BudgetLevel[] = [];
  let [left, leftOut] = [MOST_SERIES, 0];
  for (const account of tree.known()) {
    if (isTagPattern(account.path)) continue;
    const budgets = account.budgets.slice(0, left);
    left -= budgets.length;
    leftOut += account.budgets.length - budgets.length;
    if (budgets.length > 0) levels.push(accountLevel({ ...account, budgets }));
  }
  return { tree, levels, leftOut };
}
