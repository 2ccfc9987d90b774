import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { compact } from '../lib/format.ts';
import type { Layer, StackedBarsProps } from './layers.ts';
import type { Point } from './series.ts';
import './charts.css';

/** Amounts over time, one bar for each stretch of it. */
export default function StackedBars({ summary, points, layers, amount = compact }: StackedBarsProps) {
  return (
    <figure className="chart">
      <figcaption className="chart-legend">
        {layers.map(({ member, name, color }) => (
          <span key={member} className="legend-item">
            <Swatch color={color} />
            {name}
          </span>
        ))}
      </figcaption>
      <div className="chart-area">
        <ResponsiveContainer width="100%" height="100%">
          <BarChart
            data={[...points]}
            role="img"
            aria-label={summary}
            accessibilityLayer={false}
            margin={{ top: 8, right: 4, bottom: 0, left: 0 }}
            barCategoryGap="22%"
          >
            <CartesianGrid vertical={false} stroke="var(--chart-grid)" />
            <XAxis
              dataKey="label"
              tickLine={false}
              axisLine={{ stroke: 'var(--border)' }}
              tick={{ fill: 'var(--text-faint)', fontSize: 12 }}
              minTickGap={48}
              tickMargin={8}
            />
            <YAxis
              width={46}
              tickLine={false}
              axisLine={false}
              allowDecimals={false}
              tick={{ fill: 'var(--text-faint)', fontSize: 12 }}
              tickFormatter={amount}
            />
            <Tooltip
              isAnimationActive={false}
              cursor={{ fill: 'var(--surface-hover)' }}
              content={({ active, payload, label }) =>
                active ? (
                  <Reading
                    label={String(label)}
                    point={payload[0]?.payload as Point | undefined}
                    layers={layers}
                    amount={amount}
                  />
                ) : null
              }
            />
            {layers.map(({ member, name, color }) => (
              <Bar
                key={member}
                dataKey={member}
                name={name}
                stackId="all"
                fill={color}
                isAnimationActive={false}
                maxBarSize={28}
              />
            ))}
          </BarChart>
        </ResponsiveContainer>
      </div>
    </figure>
  );
}

function Swatch({ color }: { readonly color: string }) {
  return (
    <svg className="swatch" viewBox="0 0 10 10" aria-hidden="true">
      <rect width="10" height="10" rx="2.5" fill={color} />
    </svg>
  );
}

function Reading({
  label,
  point,
  layers,
  amount,
}: {
  readonly label: string;
  readonly point: Point | undefined;
  readonly layers: readonly Layer[];
  readonly amount: (value: number) => string;
}) {
  if (!point) return null;
  return (
    <div className="chart-reading">
      <p className="chart-reading-title">{label}</p>
      {layers.map(({ member, name, color }) => (
        <p key={member} className="chart-reading-line">
          <Swatch color={color} />
          {name}
          <b>{amount(Number(point[member] ?? 0))}</b>
        </p>
      ))}
    </div>
  );
}
