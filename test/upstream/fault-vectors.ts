import { ACCESS } from './vectors/access.ts';
import { BILLING } from './vectors/billing.ts';
import { CONTENT } from './vectors/content.ts';
import { LOADS } from './vectors/loads.ts';
import { OVERFLOWS } from './vectors/overflows.ts';
import { RATES } from './vectors/rates.ts';
import { WRAPPED } from './vectors/wrapped.ts';
import type { FaultVector } from './vectors/vector.ts';

export type { FaultVector } from './vectors/vector.ts';

/** Every row of the table. */
export const FAULT_VECTORS: readonly FaultVector[] = [
  ...OVERFLOWS,
  ...RATES,
  ...CONTENT,
  ...BILLING,
  ...LOADS,
  ...ACCESS,
  ...WRAPPED,
];

export const titleOf = ({ id, vendor, status, reason }: FaultVector): string =>
  `${id}, ${vendor}, ${status}: ${reason ?? 'of no kind'}`;

export const bodyText = ({ body }: FaultVector): string => (typeof body === 'string' ? body : JSON.stringify(body));
