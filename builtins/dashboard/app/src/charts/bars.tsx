import { lazy, Suspense } from 'react';
import type { StackedBarsProps } from './layers.ts';
import './charts.css';

const StackedBars = lazy(() => import('./stacked-bars.tsx'));

/** A bar chart. Its library is loaded with the first one, and the figures around it do not wait for that. */
export function Bars(props: StackedBarsProps) {
  return (
    <Suspense fallback={<div className="chart-place" role="status" aria-label="Loading the chart" />}>
      <StackedBars {...props} />
    </Suspense>
  );
}
