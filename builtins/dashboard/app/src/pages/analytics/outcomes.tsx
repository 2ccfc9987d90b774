import { Link } from 'wouter';
import { CircleCheck } from 'lucide-react';
import type { LogStatistics } from '../../api/wire.ts';
import { Share } from '../../charts/share.tsx';
import { compact, DASH, integer, percent } from '../../lib/format.ts';
import { withQuery } from '../../lib/query-string.ts';
import { Columns, Panel } from '../../ui/panel.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { costText } from './parts.tsx';

/** Whose doing the ends of requests were, in the order in which an operator looks at them. */
const OUTCOMES: readonly (readonly [outcome: string, meaning: string])[] = [
  ['ok', 'Answered'],
  ['provider', 'The provider failed'],
  ['gateway', 'The gateway failed'],
  ['client', 'The request was wrong, or its client left'],
  ['policy', 'A rule refused it'],
  ['budget', 'A budget is spent'],
  ['rate', 'It came too soon'],
  ['unknown', 'Failed, in a row of an earlier version'],
];

/** Windows of the request log by the hours of those here. */
const LOG_WINDOWS: Readonly<Record<number, string>> = { 1: '1h', 6: '6h', 24: '24h', 168: '7d', 720: '30d' };

interface Place {
  readonly hours: number;
  readonly provider: string;
  readonly model: string;
}

interface Ended {
  readonly outcome: string;
  readonly meaning: string;
  readonly count: number;
  readonly share: number;
}

interface OutcomesProps extends Place {
  readonly statistics: LogStatistics;
}

/** How requests ended and with which codes; each leads to its rows. */
export function Outcomes({
  statistics: { by_outcome: byOutcome = {}, by_code: byCode = {} },
  ...place
}: OutcomesProps) {
  const all = Object.values(byOutcome).reduce((sum, each) => sum + each, 0);
  const rows = OUTCOMES.map(([outcome, meaning]) => {
    const found = byOutcome[outcome] ?? 0;
    return { outcome, meaning, count: found, share: all === 0 ? 0 : found / all };
  }).filter(({ outcome, count }) => outcome !== 'unknown' || count > 0);
  const codes = Object.entries(byCode).toSorted(([, a], [, b]) => b - a);
  const columns: readonly Column<Ended>[] = [
    {
      key: 'meaning',
      header: 'End',
      cell: ({ meaning, share }) => (
        <div className="ranked">
          <span>{meaning}</span>
          <Share of={share} />
        </div>
      ),
    },
    {
      key: 'count',
      header: 'Requests',
      isFigure: true,
      cell: ({ outcome, count }) =>
        count === 0 ? DASH : <Link href={rowsOf({ outcome }, place)}>{integer(count)}</Link>,
    },
    { key: 'share', header: 'Share', isFigure: true, cell: ({ share }) => percent(share) },
  ];
  return (
    <Columns>
      <Panel title="How requests ended" isFlush>
        <Table label="How requests ended" columns={columns} rows={rows} rowKey={({ outcome }) => outcome} />
      </Panel>
      <Panel title="Failures by code" isFlush>
        {codes.length === 0 ? (
          <Empty icon={CircleCheck} title="No failures" />
        ) : (
          <Table label="Failures by code" columns={CODE_COLUMNS} rows={codes} rowKey={([code]) => code} />
        )}
      </Panel>
    </Columns>
  );
}

const CODE_COLUMNS: readonly Column<readonly [code: string, count: number]>[] = [
  { key: 'code', header: 'Code', cell: ([code]) => <code className="break">{code}</code> },
  { key: 'count', header: 'Requests', isFigure: true, cell: ([, count]) => integer(count) },
];

const rowsOf = (asked: { readonly outcome: string }, { hours, provider, model }: Place): string =>
  withQuery('/logs', { ...asked, provider, model, window: LOG_WINDOWS[hours] });

type Split = NonNullable<LogStatistics['by_key']>[string] & { readonly label: string };

/** Sums by key or by target, those that cost most first where anything has a price. */
export function Shares({
  title,
  shares = {},
  nameOf,
}: {
  readonly title: string;
  readonly shares: LogStatistics['by_key'];
  readonly nameOf: (id: string) => string;
}) {
  const rows: readonly Split[] = Object.entries(shares)
    .map(([id, sums]) => ({ ...sums, label: nameOf(id) }))
    .toSorted((a, b) => b.cost_usd - a.cost_usd || b.count - a.count)
    .slice(0, MOST_SHOWN);
  return (
    <Panel title={title} isFlush>
      {rows.length === 0 ? (
        <Empty title="Nothing was recorded" />
      ) : (
        <Table label={title} columns={SHARE_COLUMNS} rows={rows} rowKey={({ label }) => label} />
      )}
    </Panel>
  );
}

const MOST_SHOWN = 10;

const SHARE_COLUMNS: readonly Column<Split>[] = [
  { key: 'label', header: 'Name', cell: ({ label }) => <span className="break">{label}</span> },
  { key: 'count', header: 'Requests', isFigure: true, cell: ({ count }) => compact(count) },
  {
    key: 'failed',
    header: 'Failed',
    isFigure: true,
    cell: ({ count, errors }) => (errors === 0 ? DASH : percent(errors / count)),
  },
  { key: 'tokens', header: 'Tokens', isFigure: true, cell: ({ tokens }) => compact(tokens) },
  { key: 'cost', header: 'Cost', isFigure: true, cell: costText },
];
