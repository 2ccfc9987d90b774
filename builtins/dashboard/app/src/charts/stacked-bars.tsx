import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { compact } from '../lib/format.ts';
import type { ChartPoint } from './series.ts';
import './charts.css';

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

/** Amounts over time, one bar for each stretch of it. */
export function StackedBars({ summary, points, layers }: StackedBarsProps) {
  return (
    <figure className="chart">
      <figcaption className="chart-legend">
        {layers.map(({ member, name, color }) => <span key={member} className="legend-item"><Swatch color={color} />{name}</span>)}
      </figcaption>
      <div className="chart-area">
        <ResponsiveContainer width="100%" height="100%">
          <BarChart data={[...points]} role="img" aria-label={summary} accessibilityLayer={false} margin={{ top: 8, right: 4, bottom: 0, left: 0 }} barCategoryGap="22%">
            <CartesianGrid vertical={false} stroke="var(--chart-grid)" />
            <XAxis dataKey="label" tickLine={false} axisLine={{ stroke: 'var(--border)' }} tick={{ fill: 'var(--text-faint)', fontSize: 12 }} minTickGap={48} tickMargin={8} />
            <YAxis width={46} tickLine={false} axisLine={false} allowDecimals={false} tick={{ fill: 'var(--text-faint)', fontSize: 12 }} tickFormatter={compact} />
            <Tooltip isAnimationActive={false} cursor={{ fill: 'var(--surface-hover)' }} content={({ active, payload, label }) => (active ? <Reading label={String(label)} point={payload[0]?.payload as ChartPoint | undefined} layers={layers} /> : null)} />
            {layers.map(({ member, name, color }) => <Bar key={member} dataKey={member} name={name} stackId="all" fill={color} isAnimationActive={false} maxBarSize={28} />)}
          </BarChart>
        </ResponsiveContainer>
      </div>
    </figure>
  );
}

export function Swatch({ color }: { readonly color: string }) {
  return <svg className="swatch" viewBox="0 0 10 10" aria-hidden="true"><rect width="10" height="10" rx="2.5" fill={color} /></svg>;
}

function Reading({ label, point, layers }: { readonly label: string; readonly point: ChartPoint | undefined; readonly layers: readonly Layer[] }) {
  if (!point) return null;
  return (
    <div className="chart-reading">
      <p className="chart-reading-title">{label}</p>
      {layers.map(({ member, name, color }) => <p key={member} className="chart-reading-line"><Swatch color={color} />{name}<b>{compact(point[member])}</b></p>)}
    </div>
  );
}

export const REQUEST_LAYERS: readonly Layer[] = [{ member: 'ok', name: 'Answered', color: 'var(--chart-1)' }, { member: 'failed', name: 'Failed', color: 'var(--chart-bad)' }];
export const TOKEN_LAYERS: readonly Layer[] = [{ member: 'input', name: 'Input tokens', color: 'var(--chart-2)' }, { member: 'output', name: 'Output tokens', color: 'var(--chart-4)' }];
