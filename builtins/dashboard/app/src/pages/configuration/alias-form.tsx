import { Plus, Trash2 } from 'lucide-react';
import { Button, IconButton } from '../../ui/button.tsx';
import { Panel } from '../../ui/panel.tsx';
import { blockAt, replaced, shown, withMember } from '../../lib/form-values.ts';
import type { PartProps } from './target-form.tsx';
import { TypedField } from './typed-field.tsx';

export function AliasForm({ config, onChange, canWrite }: PartProps) {
  const rows = Object.entries(blockAt(config, 'aliases')).map(([name, model]) => [name, shown(model)] as const);
  const set = (next: readonly (readonly [string, string])[]): void =>
    onChange(withMember(config, 'aliases', next.length === 0 ? undefined : Object.fromEntries(next)));
  const free = (): string =>
    ['fast', 'smart', 'cheap'].find((name) => rows.every(([each]) => each !== name)) ?? `alias-${rows.length + 1}`;
  return (
    <Panel
      title="Aliases"
      description="Names that clients use in the place of a model."
      actions={
        canWrite && (
          <Button size="small" icon={Plus} onClick={() => set([...rows, [free(), 'model']])}>
            Add alias
          </Button>
        )
      }
    >
      {rows.length === 0 && <p className="muted">No aliases.</p>}
      <div className="form-rows">
        {rows.map(([name, model], at) => (
          <div key={at} className="form-row" role="group" aria-label={`Alias ${name}`}>
            <TypedField
              label="Name"
              value={name}
              isDisabled={!canWrite}
              onCommit={(text) => set(replaced(rows, at, [text.trim(), model]))}
            />
            <TypedField
              label="Model"
              value={model}
              isDisabled={!canWrite}
              onCommit={(text) => set(replaced(rows, at, [name, text.trim()]))}
            />
            {canWrite && (
              <span className="form-row-tasks">
                <IconButton
                  icon={Trash2}
                  label={`Remove the alias ${name}`}
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
