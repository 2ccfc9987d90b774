import { useState } from 'react';
import { ChevronDown, ChevronRight } from 'lucide-react';
import type { LogEntry } from '../../api/wire.ts';
import { DASH, duration, integer, usd } from '../../lib/format.ts';
import { IconButton } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Pill } from '../../ui/pill.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { TimeAgo } from '../../ui/time.tsx';
import type { KeyName } from './key-names.ts';
import { LogDetail } from './log-detail.tsx';
import { hasPlaced, type Placed, PLACED } from './log-filters.ts';

const rowId = ({ trace_id, stage, created_at }: LogEntry): string => `${trace_id} ${stage} ${created_at}`;

export function LogTable({
  rows,
  nameOf,
}: {
  readonly rows: readonly LogEntry[];
  readonly nameOf: (id: string) => KeyName;
}) {
  const [opened, setOpened] = useState<string>();
  const placed = PLACED.filter((each) => hasPlaced(rows, each));
  const saysStage = placed.length === 0 || !rows.every(({ stage }) => TERMINAL.has(stage));
  const columns: readonly Column<LogEntry>[] = [
    { key: 'time', header: 'Time', isOneLine: true, cell: ({ created_at }) => <TimeAgo at={created_at} /> },
    { key: 'status', header: 'Status', cell: (row) => <Status row={row} /> },
    { key: 'key', header: 'API key', cell: ({ api_key_id }) => <Credential name={nameOf(api_key_id)} /> },
    { key: 'provider', header: 'Provider', cell: ({ provider }) => provider || DASH },
    { key: 'model', header: 'Model', cell: ({ model }) => <span className="break">{model || DASH}</span> },
    ...placed.map(placedColumn),
    ...(saysStage ? [STAGE] : []),
    {
      key: 'tokens',
      header: 'Tokens in / out',
      isFigure: true,
      cell: ({ prompt_tokens, completion_tokens }) => `${integer(prompt_tokens)} / ${integer(completion_tokens)}`,
    },
    { key: 'duration', header: 'Duration', isFigure: true, cell: ({ duration_ms }) => duration(duration_ms) },
    { key: 'cost', header: 'Cost', isFigure: true, cell: ({ cost_usd }) => usd(cost_usd) },
    {
      key: 'trace',
      header: 'Trace id',
      isOneLine: true,
      cell: ({ trace_id }) => (
        <span className="record-id">
          <span className="mono" title={trace_id}>
            {trace_id.slice(0, 8) || DASH}
          </span>
          {trace_id !== '' && <CopyButton text={trace_id} label={`Copy the trace id ${trace_id.slice(0, 8)}`} />}
        </span>
      ),
    },
    {
      key: 'detail',
      header: 'Detail',
      hidesHeader: true,
      cell: (row) => {
        const isOpen = opened === rowId(row);
        return (
          <IconButton
            icon={isOpen ? ChevronDown : ChevronRight}
            label={`Details of ${row.trace_id.slice(0, 8)}`}
            aria-expanded={isOpen}
            onClick={() => setOpened(isOpen ? undefined : rowId(row))}
          />
        );
      },
    },
  ];
  return (
    <Table
      label="Requests"
      columns={columns}
      rows={rows}
      rowKey={rowId}
      detail={(row) => opened === rowId(row) && <LogDetail row={row} name={nameOf(row.api_key_id)} />}
    />
  );
}

const STAGE: Column<LogEntry> = {
  key: 'stage',
  header: 'Stage',
  cell: ({ stage }) => <span className="mono">{stage}</span>,
  isOneLine: true,
};
/** Stages that the status tells apart: where no row has another, the columns of instances and groups take the place of theirs. */
const TERMINAL: ReadonlySet<string> = new Set(['after_request', 'on_error']);

const placedColumn = ({ column, label }: Placed): Column<LogEntry> => ({
  key: column,
  header: label,
  cell: (row) => row[column] ?? DASH,
});

/** Only a terminal row says how a request ended. */
function Status({ row: { stage, error_message, outcome, reason, status } }: { readonly row: LogEntry }) {
  const isFailed = stage === 'on_error' || error_message !== '' || (outcome ?? 'ok') !== 'ok';
  if (isFailed)
    return (
      <span title={[status, outcome, reason].filter(Boolean).join(', ')}>
        <Pill tone="bad" hasDot>
          Failed
        </Pill>
      </span>
    );
  return stage === 'after_request' ? (
    <Pill tone="ok" hasDot>
      OK
    </Pill>
  ) : (
    <Pill>Begun</Pill>
  );
}

function Credential({ name: { name, mark } }: { readonly name: KeyName }) {
  return (
    <span className="row">
      <span className={mark === 'deleted' ? 'mono break' : 'break'}>{name}</span>
      {mark !== undefined && <Pill tone="warn">{mark}</Pill>}
    </span>
  );
}
