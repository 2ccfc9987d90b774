import type { Unit } from '../budgets/key-budget.ts';

/** More room in budgets for a time. It ends by the clock. Moments in Unix milliseconds. */
export interface Raise {
  readonly id: string;
  /** The id of a key, or the path of an account or a tag. */
  readonly subject: string;
  readonly unit: Unit;
  /** The rule of the budget, as it stands in names of what is counted; all budgets of the unit without it. */
  readonly rule: string | undefined;
  /** In micro-dollars, tokens or requests. */
  readonly amount: number;
  readonly from: number;
  /** Exclusive. */
  readonly until: number;
  readonly note: string | undefined;
  readonly actor: string;
  readonly createdAt: number;
}

/** What raises add to the limit of a budget at a moment. */
export function raisedBy(raises: readonly Raise[], unit: Unit, rule: string, now: number): number {
  let sum = 0;
  for (const raise of raises)
    if (
      raise.unit === unit &&
      (raise.rule === undefined || raise.rule === rule) &&
      raise.from <= now &&
      now < raise.until
    )
      sum += raise.amount;
  return sum;
}

/** The first moment after now at which one begins or ends: until then the sums stay as they are. */
export function nextChange(raises: readonly Raise[], now: number): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { from, until } of raises) for (const at of [from, until]) if (at > now && at < next) next = at;
  return next;
}

/** The last moment up to now at which one began or ended: since then the sums have stayed as they are. */
export function lastChange(raises: readonly Raise[], now: number): number {
  let last = Number.NEGATIVE_INFINITY;
  for (const { from, until } of raises) for (const at of [from, until]) if (at <= now && at > last) last = at;
  return last;
}
