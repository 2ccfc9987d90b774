import { Inbox } from 'lucide-react';
import type { LogEntry } from '../../api/wire.ts';
import { duration, integer, usd } from '../../lib/format.ts';
import { stageName, stageTone } from '../../lib/stages.ts';
import { Pill } from '../../ui/pill.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { TimeAgo } from '../../ui/time.tsx';

const COLUMNS: readonly Column<LogEntry>[] = [
  { key: 'time', header: 'Time', isOneLine: true, cell: ({ created_at }) => <TimeAgo at={created_at} /> },
  {
    key: 'status',
    header: 'Status',
    cell: ({ stage, error_message }) => (
      <Pill tone={stageTone(stage, error_message)} hasDot>
        {stageName(error_message === '' ? stage : 'on_error')}
      </Pill>
    ),
  },
  { key: 'model', header: 'Model', cell: ({ model }) => model || '–' },
  { key: 'provider', header: 'Provider', cell: ({ provider }) => provider || '–' },
  { key: 'tokens', header: 'Tokens', isFigure: true, cell: ({ total_tokens }) => integer(total_tokens) },
  { key: 'cost', header: 'Cost', isFigure: true, cell: ({ cost_usd }) => usd(cost_usd) },
  { key: 'duration', header: 'Duration', isFigure: true, cell: ({ duration_ms }) => duration(duration_ms) },
];

/** The newest requests, one line each. */
export function RecentRequests({ entries }: { readonly entries: readonly LogEntry[] }) {
  if (entries.length === 0)
    return (
      <Empty icon={Inbox} title="No requests yet">
        Requests show up here as they finish.
      </Empty>
    );
  return (
    <Table
      label="Recent requests"
      columns={COLUMNS}
      rows={entries}
      rowKey={({ trace_id, stage, created_at }) => `${trace_id} ${stage} ${created_at}`}
    />
  );
}
