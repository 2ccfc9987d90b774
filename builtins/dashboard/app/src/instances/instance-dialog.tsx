import { type SyntheticEvent, useRef, useState } from 'react';
import { isAbort, messageOf } from '../api/api-error.ts';
import { usePolled } from '../api/polling.ts';
import type { ProviderCatalog } from '../api/wire.ts';
import { rowsIn } from '../lib/fields.ts';
import { useApi } from '../services.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions, DialogBody } from '../ui/dialog.tsx';
import { Checkbox } from '../ui/form.tsx';
import { Banner, Loaded } from '../ui/states.tsx';
import { type Faults, localFaults, placedFaults } from './faults.ts';
import { InstanceFields } from './instance-fields.tsx';
import { emptyInstance, entryOf, type InstanceDraft, type Kind } from './instance-block.ts';
import { problemsIn } from './problems.ts';
import './instances.css';

export interface SavedInstance {
  readonly name: string;
  readonly entry: Readonly<Record<string, unknown>>;
  readonly hasNewTarget: boolean;
}

export interface InstanceDialogProps {
  /** The instance to change; without it a new one is made. */
  readonly instance?: InstanceDraft;
  /** Names that a new one cannot have. */
  readonly taken: readonly string[];
  /** Whether a target of its name is there already. */
  readonly hasTarget: boolean;
  /** The verb of the button that does it. */
  readonly action: string;
  /** Does it; what it throws is shown inside, at the fields that it is about. */
  readonly onSave: (saved: SavedInstance) => Promise<void>;
  readonly onClose: () => void;
}

/** A form for one entry of `providers`. What was typed where a reference belongs leaves it only as a reference. */
export function InstanceDialog(props: InstanceDialogProps) {
  const api = useApi();
  const reading = usePolled<ProviderCatalog>({
    key: ['providers', 'catalog', 'settings'],
    read: (signal) => api.json('/admin/providers/catalog?include=settings', { signal }),
  });
  const { instance, onClose } = props;
  return (
    <Dialog title={instance ? `Change ${instance.name}` : 'Add instance'} isWide onClose={onClose}>
      {reading.data === undefined ? (
        <DialogBody>
          <Loaded reading={reading} what="Kinds of providers">
            {() => null}
          </Loaded>
        </DialogBody>
      ) : (
        <InstanceForm {...props} kinds={rowsIn(reading.data.providers)} />
      )}
    </Dialog>
  );
}

/** The kind that takes any server: it is the last of the list. */
const firstKind = (kinds: readonly Kind[]): string => kinds.at(-1)?.id ?? '';

function InstanceForm({
  instance,
  taken,
  hasTarget,
  action,
  onSave,
  onClose,
  kinds,
}: InstanceDialogProps & { readonly kinds: readonly Kind[] }) {
  const form = useRef<HTMLFormElement>(null);
  const [draft, setDraft] = useState<InstanceDraft>(() => instance ?? emptyInstance(firstKind(kinds)));
  const [wantsTarget, setWantsTarget] = useState(!instance);
  const [isSent, setSent] = useState(false);
  const [refused, setRefused] = useState<Faults>(new Map());
  const [isBusy, setBusy] = useState(false);
  const own = localFaults(draft, instance ? undefined : taken);
  const faults: Faults = new Map([...refused, ...own]);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    setSent(true);
    setRefused(new Map());
    if (own.size > 0) {
      focusFirstFault(form.current);
      return;
    }
    setBusy(true);
    onSave({ name: draft.name, entry: entryOf(draft), hasNewTarget: wantsTarget && !hasTarget })
      .catch((error: unknown) => {
        if (!isAbort(error)) setRefused(placedFaults(problemsIn(messageOf(error)), draft));
        focusFirstFault(form.current);
      })
      .finally(() => setBusy(false));
  };
  return (
    <form ref={form} className="instance-form" noValidate onSubmit={submit}>
      <DialogBody>
        {faults.get('') !== undefined && (
          <Banner tone="bad">
            <span className="instance-refusal">{faults.get('')}</span>
          </Banner>
        )}
        <InstanceFields
          draft={draft}
          kinds={kinds}
          isNew={!instance}
          faults={faults}
          showsFaults={isSent}
          onChange={setDraft}
        />
        {!hasTarget && (
          <Checkbox
            label="Add a target of this name"
            hint="An instance that no target names serves nothing."
            checked={wantsTarget}
            onChange={(event) => setWantsTarget(event.target.checked)}
          />
        )}
      </DialogBody>
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" tone="primary" isBusy={isBusy}>
          {action}
        </Button>
      </DialogActions>
    </form>
  );
}

/** After what is wrong has been drawn. */
function focusFirstFault(form: HTMLFormElement | null): void {
  requestAnimationFrame(() => form?.querySelector<HTMLElement>('[aria-invalid]')?.focus());
}
