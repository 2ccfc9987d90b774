import type { Spend } from '../../api/answers.ts';
import { CircleDollarSign } from 'lucide-react';
import { Bars } from '../../charts/bars.tsx';
import { Share } from '../../charts/share.tsx';
import { compact, count, DASH, integer, percent, usd } from '../../lib/format.ts';
import { Panel } from '../../ui/panel.tsx';
import { Banner, Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Tile, Tiles } from '../../ui/tile.tsx';
import { forecast, type Range } from './ranges.ts';
import { dayLabel, type Dimension, DIMENSIONS, nameOf, seriesOf, type SpendEntry } from './spend-series.ts';
import './spend.css';

/** The sums of the range, beside those of the range before. */
export function SpendTiles({
  total: { summary, data },
  before,
  range,
}: {
  readonly total: Spend;
  readonly before: Spend;
  readonly range: Range;
}) {
  const { estimated_usd: estimated = 0, unpriced = 0 } = data[0] ?? {};
  const expected = forecast(summary.usd, range);
  return (
    <Tiles label="Sums">
      <Tile label="Spend" value={usd(summary.usd)} note={changeText(summary.usd, before.summary.usd)} />
      <Tile label="Requests" value={compact(summary.requests)} note={`${compact(before.summary.requests)} before`} />
      <Tile
        label="Estimated"
        value={summary.usd === 0 ? DASH : percent(estimated / summary.usd)}
        note="of the dollars"
      />
      <Tile
        label="Without a price"
        value={compact(unpriced)}
        note={unpriced === 1 ? 'request' : 'requests'}
        tone={unpriced > 0 ? 'warn' : 'neutral'}
      />
      <Tile
        label="Forecast"
        value={expected === undefined ? DASH : usd(expected)}
        note={expected === undefined ? 'for a month, from a tenth of it on' : 'if the month goes on like this'}
      />
    </Tiles>
  );
}

function changeText(now: number, before: number): string {
  if (before === 0) return 'nothing before';
  const change = (now - before) / before;
  return `${change >= 0 ? '+' : '−'}${percent(Math.abs(change))} against the range before`;
}

/** A bar for each day, and the days as a table. */
export function SpendChart({
  days,
  by,
  zone,
}: {
  readonly days: Spend;
  readonly by: Dimension;
  readonly zone: string;
}) {
  const { summary, data } = days;
  if (data.length === 0)
    return (
      <Panel title="Spend by day">
        <Empty icon={CircleDollarSign} title="Nothing was spent">
          No request of this range fits these filters.
        </Empty>
      </Panel>
    );
  const label = dayLabel(zone);
  const { layers, points } = seriesOf(data, by, label);
  return (
    <Panel title="Spend by day" description={`Days go by the clocks of ${zone}.`}>
      {summary.is_approximate === true && (
        <Banner tone="info">
          Days that begin inside an hour, or inside a day that is kept as one, are approximate.
        </Banner>
      )}
      {summary.returned < summary.groups && (
        <Banner tone="info">
          Only {integer(summary.returned)} of {integer(summary.groups)} entries are drawn.
        </Banner>
      )}
      <Bars
        summary={`${usd(summary.usd)} in ${count(points.length, 'day')}, by ${by}.`}
        points={points}
        layers={layers}
        amount={usd}
      />
      <details className="spend-days">
        <summary>The days as a table</summary>
        <Table label="Spend by day" columns={DAY_COLUMNS} rows={daysOf(data, label)} rowKey={({ day }) => day} />
      </details>
    </Panel>
  );
}

interface Day {
  readonly day: string;
  readonly requests: number;
  readonly usd: number;
}

const DAY_COLUMNS: readonly Column<Day>[] = [
  { key: 'day', header: 'Day', cell: ({ day }) => day },
  { key: 'requests', header: 'Requests', isFigure: true, cell: ({ requests }) => integer(requests) },
  { key: 'usd', header: 'Spend', isFigure: true, cell: ({ usd: dollars }) => usd(dollars) },
];

const daysOf = (entries: readonly SpendEntry[], label: (bucket: string) => string): Day[] =>
  Array.from(
    Map.groupBy(entries, ({ bucket = '' }) => bucket),
    ([bucket, group]) => ({
      day: label(bucket),
      requests: group.reduce((sum, { requests }) => sum + requests, 0),
      usd: group.reduce((sum, { micro_usd: micro }) => sum + micro, 0) / 1e6,
    }),
  );

/** Who, or what, cost most. Each name narrows the page to it. */
export function Ranking({
  names,
  by,
  onChoose,
}: {
  readonly names: Spend;
  readonly by: Dimension;
  readonly onChoose: (name: string) => void;
}) {
  const title = DIMENSIONS.find(({ value }) => value === by)?.label ?? by;
  const all = names.summary.usd;
  const columns: readonly Column<SpendEntry>[] = [
    {
      key: 'name',
      header: title,
      cell: (entry) => (
        <div className="spend-ranked">
          <button type="button" className="spend-name break" onClick={() => onChoose(entry[by] ?? '')}>
            {nameOf(entry, by)}
          </button>
          <Share of={all > 0 ? entry.usd / all : 0} />
        </div>
      ),
    },
    { key: 'requests', header: 'Requests', isFigure: true, cell: ({ requests }) => compact(requests) },
    {
      key: 'tokens',
      header: 'Tokens',
      isFigure: true,
      cell: ({ prompt_tokens: prompt, completion_tokens: completion }) => compact(prompt + completion),
    },
    { key: 'share', header: 'Share', isFigure: true, cell: (entry) => (all > 0 ? percent(entry.usd / all) : DASH) },
    { key: 'usd', header: 'Spend', isFigure: true, cell: (entry) => usd(entry.usd) },
  ];
  return (
    <Panel title={title} isFlush>
      {names.data.length === 0 ? (
        <Empty icon={CircleDollarSign} title="Nothing was spent" />
      ) : (
        <Table label={title} columns={columns} rows={names.data} rowKey={(entry) => `${by} ${entry[by] ?? ''}`} />
      )}
    </Panel>
  );
}
