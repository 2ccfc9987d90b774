import type { Unpriced } from '../contract/index.ts';
import type { GatewayConfig } from './document.ts';

/** The words of `unpriced`, the strictest first. */
export const UNPRICED: readonly Unpriced[] = ['refuse', 'warn', 'allow'];

/** What the document says of keys with a budget. */
export const unpricedRule = ({ money: { unpriced } }: Pick<GatewayConfig, 'money'>): Unpriced =>
  UNPRICED.find((word) => word === unpriced) ?? 'warn';
