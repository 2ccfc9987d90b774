import { useSearch } from '../../lib/use-search.ts';
import { CircleCheck, Gauge } from 'lucide-react';
import type { LogStatistics, LogSums, Quantiles } from '../../api/wire.ts';
import { Share } from '../../charts/share.tsx';
import { compact, DASH, duration, integer, percent, usd } from '../../lib/format.ts';
import { Segmented } from '../../ui/form.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import './analytics.css';

const MODELS_SHOWN = 6;
const UNKNOWN = 'unknown';

interface Named extends LogSums {
  readonly name: string;
}

function named(groups: Readonly<Record<string, LogSums>>): Named[] {
  return Object.entries(groups).map(([name, sums]) => ({ name, ...sums }));
}

type Priced = Pick<LogSums, 'unpriced' | 'count' | 'errors'>;

/** Whether no answer had a known price. */
export const isUnpriced = ({ unpriced, count, errors }: Priced): boolean => unpriced > 0 && unpriced >= count - errors;

/** A dash where no answer had a known price. */
export function costText({ cost_usd, ...sums }: Priced & Pick<LogSums, 'cost_usd'>): string {
  return isUnpriced(sums) ? DASH : usd(cost_usd);
}

interface Measured extends Quantiles {
  readonly name: string;
}

const LATENCY_COLUMNS: readonly Column<Measured>[] = [
  { key: 'name', header: 'Measure', cell: ({ name }) => name },
  ...(['p50', 'p95', 'p99', 'max', 'mean'] as const).map((member): Column<Measured> => ({
    key: member,
    header: member,
    isFigure: true,
    cell: (row) => duration(row[member]),
  })),
  { key: 'count', header: 'Measured', isFigure: true, cell: ({ count }) => integer(count) },
];

export function Latency({ latency, ttft }: { readonly latency: Quantiles | null; readonly ttft: Quantiles | null }) {
  const rows = [
    ...(latency ? [{ name: 'Whole request', ...latency }] : []),
    ...(ttft ? [{ name: 'Time to first token', ...ttft }] : []),
  ];
  return (
    <Panel title="Latency" description="Time to first token is measured on streams." isFlush>
      {rows.length === 0 ? (
        <Empty icon={Gauge} title="Nothing was measured" />
      ) : (
        <Table label="Latency" columns={LATENCY_COLUMNS} rows={rows} rowKey={({ name }) => name} />
      )}
    </Panel>
  );
}

/** The models that cost most, or took most tokens. */
export function Models({ byModel }: { readonly byModel: LogStatistics['by_model'] }) {
  const [search, setSearch] = useSearch();
  const by = search.get('by') === 'tokens' ? 'tokens' : 'cost_usd';
  const rows = named(byModel)
    .toSorted((a, b) => b[by] - a[by])
    .slice(0, MODELS_SHOWN);
  const most = rows[0]?.[by] ?? 0;
  const columns: readonly Column<Named>[] = [
    {
      key: 'name',
      header: 'Model',
      cell: ({ name, ...sums }) => (
        <div className="ranked">
          <span className="break">{name}</span>
          <Share of={most === 0 ? 0 : sums[by] / most} />
        </div>
      ),
    },
    { key: 'requests', header: 'Requests', isFigure: true, cell: ({ count }) => compact(count) },
    { key: 'tokens', header: 'Tokens', isFigure: true, cell: ({ tokens }) => compact(tokens) },
    { key: 'cost', header: 'Cost', isFigure: true, cell: costText },
  ];
  const choose = (
    <Segmented
      label="Order of the models"
      value={by}
      choices={[
        { value: 'cost_usd', label: 'By cost' },
        { value: 'tokens', label: 'By tokens' },
      ]}
      onChange={(value) => setSearch({ by: value === 'tokens' ? value : undefined })}
    />
  );
  return (
    <Panel title="Top models" isFlush actions={choose}>
      <Table label="Top models" columns={columns} rows={rows} rowKey={({ name }) => name} />
    </Panel>
  );
}

const PROVIDER_COLUMNS: readonly Column<Named>[] = [
  { key: 'name', header: 'Provider', cell: ({ name }) => name },
  { key: 'answered', header: 'Answered', isFigure: true, cell: ({ count, errors }) => compact(count - errors) },
  {
    key: 'failed',
    header: 'Failed',
    isFigure: true,
    cell: ({ count, errors }) => (count === 0 ? DASH : `${compact(errors)} (${percent(errors / count)})`),
  },
  { key: 'tokens', header: 'Tokens', isFigure: true, cell: ({ tokens }) => compact(tokens) },
  { key: 'cost', header: 'Cost', isFigure: true, cell: costText },
];

/** Providers by what they answered. Requests that reached none are left out. */
export function Providers({ byProvider }: { readonly byProvider: LogStatistics['by_provider'] }) {
  const rows = named(byProvider)
    .filter(({ name }) => name !== UNKNOWN)
    .toSorted((a, b) => b.count - b.errors - (a.count - a.errors));
  return (
    <Panel title="Providers" isFlush>
      {rows.length === 0 ? (
        <Empty title="No provider was reached" />
      ) : (
        <Table label="Providers" columns={PROVIDER_COLUMNS} rows={rows} rowKey={({ name }) => name} />
      )}
    </Panel>
  );
}

const FAILURE_COLUMNS: readonly Column<LogStatistics['top_errors'][number]>[] = [
  { key: 'message', header: 'Message', cell: ({ message }) => <span className="break">{message}</span> },
  { key: 'count', header: 'Times', isFigure: true, cell: ({ count }) => integer(count) },
];

export function Failures({ errors }: { readonly errors: LogStatistics['top_errors'] }) {
  return (
    <Panel title="Top failures" isFlush>
      {errors.length === 0 ? (
        <Empty icon={CircleCheck} title="No failures">
          Every request that was recorded here was answered.
        </Empty>
      ) : (
        <Table label="Top failures" columns={FAILURE_COLUMNS} rows={errors} rowKey={({ message }) => message} />
      )}
    </Panel>
  );
}
