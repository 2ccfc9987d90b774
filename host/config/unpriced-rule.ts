import type { ReportUse, Unpriced } from '../contract/index.ts';
import type { GatewayConfig } from './document.ts';

/** The words of `unpriced`, the strictest first. */
export const UNPRICED: readonly Unpriced[] = ['refuse', 'warn', 'allow'];

/** What the document says of keys with a budget. */
export const unpricedRule = ({ money: { unpriced } }: Pick<GatewayConfig, 'money'>): Unpriced =>
  UNPRICED.find((word) => word === unpriced) ?? 'warn';

/** The words of `price_reports`. */
export const REPORT_USES: readonly ReportUse[] = ['prefer', 'compare', 'ignore'];

/** What the document says of costs that vendors report; `undefined` leaves it to their providers. */
export const priceReports = ({ money }: Pick<GatewayConfig, 'money'>): ReportUse | undefined =>
  REPORT_USES.find((word) => word === money.price_reports);
