import type { Unpriced } from '../contract/index.ts';
import type { GatewayConfig } from './document.ts';

/** The words of `unpriced`, the strictest first. */
export const UNPRICED: readonly Unpriced[] = ['refuse', 'warn', 'allow'];

/** What the document says of keys with `budgets` in dollars: what has no price is refused unless it says otherwise. */
export const unpricedOfBudgets = ({ money: { unpriced } }: Pick<GatewayConfig, 'money'>): Unpriced =>
  UNPRICED.find((word) => word === unpriced) ?? 'refuse';

/** What the document says of keys with `budget_usd`. */
export const unpricedRule = ({ money: { unpriced } }: Pick<GatewayConfig, 'money'>): Unpriced =>
  UNPRICED.find((word) => word === unpriced) ?? 'warn';
