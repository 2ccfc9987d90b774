import { useState } from 'react';
import { Pencil, Plus, Trash2 } from 'lucide-react';
import { draftOf, hasTarget, withInstance } from '../../instances/instance-block.ts';
import { InstanceDialog, type SavedInstance } from '../../instances/instance-dialog.tsx';
import { isFields } from '../../lib/fields.ts';
import { blockAt, rowsAt, shown, withInner } from '../../lib/form-values.ts';
import { count } from '../../lib/format.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Panel } from '../../ui/panel.tsx';
import type { PartProps } from './target-form.tsx';

/** The entries of `providers`. Each is written in the dialog of the page of providers, so that a secret never gets into the draft. */
export function ProviderForm({ config, onChange, canWrite }: PartProps) {
  const [edited, setEdited] = useState<{ readonly name?: string }>();
  const providers = blockAt(config, 'providers');
  const save = async ({ name, entry, hasNewTarget }: SavedInstance): Promise<void> => {
    onChange(withInstance(config, name, entry, hasNewTarget));
    setEdited(undefined);
  };
  return (
    <Panel
      title="Providers"
      description="Instances: each use of a kind of provider under a name of its own."
      actions={
        canWrite && (
          <Button size="small" icon={Plus} onClick={() => setEdited({})}>
            Add instance
          </Button>
        )
      }
    >
      {Object.keys(providers).length === 0 && <p className="muted">No instances.</p>}
      <div className="form-rows">
        {Object.entries(providers).map(([name, entry]) => (
          <div key={name} className="form-row" role="group" aria-label={`Instance ${name}`}>
            <InstanceSummary name={name} entry={entry} />
            {canWrite && (
              <span className="form-row-tasks">
                <IconButton icon={Pencil} label={`Change the instance ${name}`} onClick={() => setEdited({ name })} />
                <IconButton
                  icon={Trash2}
                  label={`Remove the instance ${name}`}
                  onClick={() => onChange(withInner(config, 'providers', name, undefined))}
                />
              </span>
            )}
          </div>
        ))}
      </div>
      {edited && canWrite && (
        <InstanceDialog
          {...(edited.name === undefined ? {} : { instance: draftIn(providers[edited.name], edited.name) })}
          taken={Object.keys(providers)}
          hasTarget={edited.name !== undefined && hasTarget(config, edited.name)}
          action="Take over"
          onSave={save}
          onClose={() => setEdited(undefined)}
        />
      )}
    </Panel>
  );
}

const draftIn = (entry: unknown, name: string) => draftOf(name, isFields(entry) ? entry : {});

function InstanceSummary({ name, entry }: { readonly name: string; readonly entry: unknown }) {
  const block = isFields(entry) ? entry : {};
  const credentials = rowsAt(block, 'credentials');
  return (
    <>
      <b className="break">{name}</b>
      <span className="break">{shown(block['kind'])}</span>
      <span className="break muted">{shown(block['base_url']) || "the kind's own address"}</span>
      <span className="muted">{count(Math.max(1, credentials.length), 'credential')}</span>
    </>
  );
}
