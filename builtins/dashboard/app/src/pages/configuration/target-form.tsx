import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide-react';
import type { Fields } from '../../lib/fields.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Panel } from '../../ui/panel.tsx';
import {
  blockAt,
  listOf,
  moved,
  numberOf,
  replaced,
  rowsAt,
  shown,
  withInner,
  withMember,
} from '../../lib/form-values.ts';
import { TypedField } from './typed-field.tsx';

export interface PartProps {
  readonly config: Fields;
  readonly onChange: (config: Fields) => void;
  readonly canWrite: boolean;
}

export function TargetForm({
  config,
  onChange,
  canWrite,
  providers,
}: PartProps & { readonly providers: readonly string[] }) {
  const rows = rowsAt(config, 'targets');
  const set = (next: readonly Fields[]): void => onChange(withMember(config, 'targets', next));
  const add = canWrite && (
    <Button
      size="small"
      icon={Plus}
      onClick={() =>
        set([
          ...rows,
          { virtual_key: providers.find((name) => rows.every((row) => row['virtual_key'] !== name)) ?? 'echo' },
        ])
      }
    >
      Add target
    </Button>
  );
  return (
    <Panel
      title="Targets"
      description="Providers that requests go to, in the order in which the strategy looks at them."
      actions={add}
    >
      <div className="form-rows">
        {rows.map((row, at) => (
          <div key={at} className="form-row" role="group" aria-label={`Target ${at + 1}: ${shown(row['virtual_key'])}`}>
            <TargetFields
              row={row}
              onChange={(next) => set(replaced(rows, at, next))}
              canWrite={canWrite}
              providers={providers}
            />
            {canWrite && (
              <span className="form-row-tasks">
                <IconButton
                  icon={ArrowUp}
                  label={`Move target ${at + 1} up`}
                  disabled={at === 0}
                  onClick={() => set(moved(rows, at, -1))}
                />
                <IconButton
                  icon={ArrowDown}
                  label={`Move target ${at + 1} down`}
                  disabled={at === rows.length - 1}
                  onClick={() => set(moved(rows, at, 1))}
                />
                <IconButton
                  icon={Trash2}
                  label={`Remove target ${at + 1}`}
                  onClick={() => set(rows.toSpliced(at, 1))}
                />
              </span>
            )}
          </div>
        ))}
      </div>
    </Panel>
  );
}

function TargetFields({
  row,
  onChange,
  canWrite,
  providers,
}: {
  readonly row: Fields;
  readonly onChange: (row: Fields) => void;
  readonly canWrite: boolean;
  readonly providers: readonly string[];
}) {
  const common = { isDisabled: !canWrite } as const;
  return (
    <>
      <TypedField
        {...common}
        label="Virtual key"
        value={shown(row['virtual_key'])}
        suggestions={providers}
        onCommit={(text) => onChange(withMember(row, 'virtual_key', text.trim()))}
      />
      <TypedField
        {...common}
        label="Models"
        value={shown(row['models'])}
        onCommit={(text) => onChange(withMember(row, 'models', listOf(text)))}
      />
      <TypedField
        {...common}
        label="Weight"
        inputMode="decimal"
        value={shown(row['weight'])}
        onCommit={(text) => onChange(withMember(row, 'weight', numberOf(text)))}
      />
      <TypedField
        {...common}
        label="Retry attempts"
        inputMode="decimal"
        value={shown(blockAt(row, 'retry')['attempts'])}
        onCommit={(text) => onChange(withInner(row, 'retry', 'attempts', numberOf(text)))}
      />
      <TypedField
        {...common}
        label="Concurrency"
        inputMode="decimal"
        value={shown(blockAt(row, 'concurrency')['max_concurrency'])}
        onCommit={(text) => onChange(withInner(row, 'concurrency', 'max_concurrency', numberOf(text)))}
      />
    </>
  );
}
