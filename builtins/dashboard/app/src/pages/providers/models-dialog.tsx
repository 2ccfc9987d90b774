import { useState } from 'react';
import type { Model } from '../../api/wire.ts';
import { compact, count } from '../../lib/format.ts';
import { Dialog, DialogBody } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/form.tsx';
import { Pill } from '../../ui/pill.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import type { Provider } from './provider-states.ts';

/** Where a model is in its life, when that is something to know before choosing it. */
function LifecyclePill({ deprecated = false, status = 'ga' }: Model) {
  if (deprecated || status === 'deprecated') return <Pill tone="warn">deprecated</Pill>;
  return status === 'ga' ? null : <Pill>{status}</Pill>;
}

const COLUMNS: readonly Column<Model>[] = [
  {
    key: 'id',
    header: 'Model',
    cell: (model) => (
      <span className="model-id">
        <span className="break">{model.id}</span>
        <LifecyclePill {...model} />
      </span>
    ),
  },
  { key: 'mode', header: 'Kind', cell: ({ mode }) => mode ?? '–' },
  { key: 'context', header: 'Context', isFigure: true, cell: ({ context_window }) => compact(context_window) },
  { key: 'output', header: 'Output', isFigure: true, cell: ({ max_output_tokens }) => compact(max_output_tokens) },
  {
    key: 'capabilities',
    header: 'Capabilities',
    cell: ({ capabilities = [] }) => (
      <span className="muted">{capabilities.map((name) => name.replaceAll('_', ' ')).join(', ') || '–'}</span>
    ),
  },
];

/** The models that requests reach this provider with. */
export function ModelsDialog({
  provider: { name, models },
  onClose,
}: {
  readonly provider: Provider;
  readonly onClose: () => void;
}) {
  const [text, setText] = useState('');
  const found = models.filter(({ id }) => id.toLowerCase().includes(text.trim().toLowerCase()));
  return (
    <Dialog title={`Models of ${name}`} isWide onClose={onClose}>
      <DialogBody>
        <TextField label="Find a model" type="search" value={text} onChange={(event) => setText(event.target.value)} />
        <p className="match-count" role="status">
          {found.length === models.length
            ? count(models.length, 'model')
            : `${found.length} of ${count(models.length, 'model')}`}
        </p>
        {found.length > 0 && (
          <Table label={`Models of ${name}`} columns={COLUMNS} rows={found} rowKey={({ id }) => id} />
        )}
      </DialogBody>
    </Dialog>
  );
}
