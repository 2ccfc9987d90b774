import type { Unit } from './key-budget.ts';

/** What is booked in a budget has reached a share of its limit at which a warning is asked for. */
export interface BudgetMove {
  /** What its sum is kept under, as docs/reference/budgets.md#what-is-kept says. */
  readonly budget: string;
  /** Whose it is: the id of a key, the path of an account, `#` and the name of a tag. */
  readonly of: { readonly kind: 'key' | 'session' | 'account' | 'tag'; readonly id: string };
  /** `threshold` is the share; `spent` and `limit` are micro-dollars, tokens or requests. The limit holds what it is raised by. */
  readonly unit: Unit;
  readonly threshold: number;
  readonly spent: number;
  readonly limit: number;
  /** Its rule as it stands in names of sums, and the Unix milliseconds of its end; `total` has none. */
  readonly window: { readonly rule: string; readonly endsAt: number | undefined };
}
