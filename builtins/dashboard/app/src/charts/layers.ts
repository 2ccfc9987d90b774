import type { ChartPoint } from './series.ts';

export interface Layer {
  readonly member: Exclude<keyof ChartPoint, 'label'>;
  readonly name: string;
  /** A colour of the theme. */
  readonly color: string;
}

export interface StackedBarsProps {
  /** What the chart says, in a sentence. */
  readonly summary: string;
  readonly points: readonly ChartPoint[];
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
