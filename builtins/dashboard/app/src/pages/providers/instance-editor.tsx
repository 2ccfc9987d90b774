import { useRef } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { usePolled } from '../../api/polling.ts';
import { draftOf, hasTarget } from '../../instances/instance-block.ts';
import { InstanceDialog, type SavedInstance } from '../../instances/instance-dialog.tsx';
import { type Base, Outdated, readBase, writeInstance } from '../../instances/write-instance.ts';
import { isFields } from '../../lib/fields.ts';
import { blockAt } from '../../lib/form-values.ts';
import { useApi } from '../../services.ts';
import { Dialog, DialogBody } from '../../ui/dialog.tsx';
import { Loaded } from '../../ui/states.tsx';

export interface InstanceEditorProps {
  /** The instance to change; without it a new one is made. */
  readonly name?: string;
  readonly onSaved: (name: string) => void;
  readonly onClose: () => void;
}

/** Reads the configuration in force, and writes one entry of it. */
export function InstanceEditor(props: InstanceEditorProps) {
  const api = useApi();
  const asked = useRef(Date.now());
  const reading = usePolled<Base>({
    key: ['config', 'base', asked.current],
    read: (signal) => readBase(api, signal),
  });
  if (reading.data) return <Editor {...props} base={reading.data} />;
  return (
    <Dialog title={props.name === undefined ? 'Add instance' : `Change ${props.name}`} isWide onClose={props.onClose}>
      <DialogBody>
        <Loaded reading={reading} what="The configuration">
          {() => null}
        </Loaded>
      </DialogBody>
    </Dialog>
  );
}

function Editor({ name, base, onSaved, onClose }: InstanceEditorProps & { readonly base: Base }) {
  const api = useApi();
  const queries = useQueryClient();
  const newest = useRef(base);
  const providers = blockAt(base.config, 'providers');
  const entry = name === undefined ? undefined : providers[name];
  const save = async (saved: SavedInstance): Promise<void> => {
    try {
      await writeInstance(api, newest.current, saved);
    } catch (error) {
      if (error instanceof Outdated) newest.current = error.newest;
      throw error;
    }
    onSaved(saved.name);
    await Promise.all(
      ['providers', 'health', 'models', 'config'].map((key) => queries.invalidateQueries({ queryKey: [key] })),
    );
  };
  return (
    <InstanceDialog
      {...(name === undefined ? {} : { instance: draftOf(name, isFields(entry) ? entry : {}) })}
      taken={Object.keys(providers)}
      hasTarget={name !== undefined && hasTarget(base.config, name)}
      action="Apply"
      onSave={save}
      onClose={onClose}
    />
  );
}
