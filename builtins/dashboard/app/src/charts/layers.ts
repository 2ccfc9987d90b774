import type { Point } from './series.ts';

export interface Layer {
  /** The member of the points that it draws. */
  readonly member: string;
  readonly name: string;
  /** A colour of the theme. */
  readonly color: string;
}

export interface StackedBarsProps {
  /** What the chart says, in a sentence. */
  readonly summary: string;
  readonly points: readonly Point[];
  /** How an amount is written; short numbers unless said. */
  readonly amount?: (value: number) => string;
  readonly layers: readonly Layer[];
}

export const REQUEST_LAYERS: readonly Layer[] = [
  { member: 'ok', name: 'Answered', color: 'var(--chart-1)' },
  { member: 'failed', name: 'Failed', color: 'var(--chart-bad)' },
];
export const TOKEN_LAYERS: readonly Layer[] = [
  { member: 'input', name: 'Input tokens', color: 'var(--chart-2)' },
  { member: 'output', name: 'Output tokens', color: 'var(--chart-4)' },
];
