import { useEffect, useState } from 'react';
import { Plus, Trash2 } from 'lucide-react';
import type { Fields } from '../../lib/fields.ts';
import { readJson } from '../../lib/json.ts';
import { STAGES } from '../../lib/stages.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Checkbox, SelectField, TextArea } from '../../ui/form.tsx';
import { Panel } from '../../ui/panel.tsx';
import { replaced, rowsAt, shown, withMember } from '../../lib/form-values.ts';
import type { PartProps } from './target-form.tsx';

export function PluginForm({
  config,
  onChange,
  canWrite,
  catalog,
}: PartProps & { readonly catalog: readonly string[] }) {
  const rows = rowsAt(config, 'plugins');
  const set = (next: readonly Fields[]): void => onChange(withMember(config, 'plugins', next));
  const first = { name: catalog[0] ?? 'word-filter', stage: 'before_request', enabled: false, config: {} };
  return (
    <Panel
      title="Plugins"
      description="What requests and answers pass, in this order."
      actions={
        canWrite && (
          <Button size="small" icon={Plus} onClick={() => set([...rows, first])}>
            Add plugin
          </Button>
        )
      }
    >
      {rows.length === 0 && <p className="muted">No plugins.</p>}
      <div className="form-rows">
        {rows.map((row, at) => (
          <div key={at} className="form-row" role="group" aria-label={`Plugin ${at + 1}: ${shown(row['name'])}`}>
            <PluginFields
              row={row}
              catalog={catalog}
              canWrite={canWrite}
              onChange={(next) => set(replaced(rows, at, next))}
            />
            {canWrite && (
              <span className="form-row-tasks">
                <IconButton
                  icon={Trash2}
                  label={`Remove plugin ${at + 1}`}
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

function PluginFields({
  row,
  catalog,
  canWrite,
  onChange,
}: {
  readonly row: Fields;
  readonly catalog: readonly string[];
  readonly canWrite: boolean;
  readonly onChange: (row: Fields) => void;
}) {
  const name = shown(row['name']);
  return (
    <>
      <SelectField
        label="Plugin"
        value={name}
        disabled={!canWrite}
        onChange={(event) => onChange(withMember(row, 'name', event.target.value))}
      >
        {[...new Set([name, ...catalog])].map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </SelectField>
      <SelectField
        label="Stage"
        value={shown(row['stage'])}
        disabled={!canWrite}
        onChange={(event) => onChange(withMember(row, 'stage', event.target.value))}
      >
        {[...new Set([shown(row['stage']), ...STAGES])].map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </SelectField>
      <SettingsField
        value={row['config']}
        canWrite={canWrite}
        onCommit={(value) => onChange(withMember(row, 'config', value))}
      />
      <Checkbox
        label="Enabled"
        checked={row['enabled'] === true}
        disabled={!canWrite}
        onChange={(event) => onChange(withMember(row, 'enabled', event.target.checked))}
      />
    </>
  );
}

/** Settings differ from plugin to plugin, so they are written as JSON. */
function SettingsField({
  value,
  canWrite,
  onCommit,
}: {
  readonly value: unknown;
  readonly canWrite: boolean;
  readonly onCommit: (value: unknown) => void;
}) {
  const written = JSON.stringify(value ?? {});
  const [typed, setTyped] = useState(written);
  useEffect(() => setTyped(written), [written]);
  const read = readJson(typed);
  return (
    <TextArea
      label="Settings (JSON)"
      value={typed}
      rows={2}
      disabled={!canWrite}
      spellCheck={false}
      error={read === undefined ? 'This is not JSON yet.' : undefined}
      onChange={(event) => setTyped(event.target.value)}
      onBlur={() => {
        if (read !== undefined && typed !== written) onCommit(read);
      }}
    />
  );
}
