import { type ReactNode, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import type { ApiKey } from '../../api/admin-wire.ts';
import { useApi } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/copy.tsx';
import { ConfirmDialog, Dialog, DialogActions, DialogBody } from '../../ui/dialog.tsx';
import { Checkbox, SelectField } from '../../ui/form.tsx';
import { Banner } from '../../ui/states.tsx';
import { type KeyFields, KeyForm } from './key-form.tsx';

/** What is being done, and to which key. */
export type KeyTask =
  | { readonly kind: 'create'; readonly typed?: KeyFields }
  | { readonly kind: 'edit'; readonly key: ApiKey; readonly typed?: KeyFields }
  | { readonly kind: 'rotate' | 'revoke' | 'delete'; readonly key: ApiKey }
  | { readonly kind: 'reveal'; readonly key: ApiKey; readonly verb: string };

interface TaskProps {
  readonly task: KeyTask;
  readonly onTask: (task: KeyTask | undefined) => void;
}

/** The dialog of the task. A refusal is shown inside it, and nothing has changed then. */
export function KeyDialog({ task, onTask }: TaskProps): ReactNode {
  const api = useApi();
  const queries = useQueryClient();
  const close = (): void => onTask(undefined);
  /** The list is read before the dialog closes: what is edited next is what is there now. A new value is shown at once. */
  const changed = async (next?: KeyTask): Promise<void> => {
    if (next) onTask(next);
    await queries.invalidateQueries({ queryKey: ['keys'] });
    if (!next) close();
  };
  if (task.kind === 'create') {
    const create = async (body: object): Promise<void> =>
      changed({
        kind: 'reveal',
        verb: 'created',
        key: await api.json<ApiKey>('/admin/keys', { method: 'POST', body }),
      });
    return (
      <KeyForm
        title="Create an API key"
        action="Create key"
        typed={task.typed}
        onType={(typed) => onTask({ ...task, typed })}
        onSubmit={create}
        onClose={close}
      />
    );
  }
  const { key } = task;
  const path = `/admin/keys/${encodeURIComponent(key.id)}`;
  switch (task.kind) {
    case 'reveal':
      return <Reveal issued={key} verb={task.verb} onClose={close} />;
    case 'edit':
      return (
        <KeyForm
          title={`Edit ${key.name}`}
          action="Save changes"
          edited={key}
          typed={task.typed}
          onType={(typed) => onTask({ ...task, typed })}
          onClose={close}
          onSubmit={async (body) => {
            await api.json(path, { method: 'PUT', body });
            await changed();
          }}
        />
      );
    case 'rotate':
      return (
        <Rotate
          rotated={key}
          onClose={close}
          onRotate={async (body) =>
            changed({
              kind: 'reveal',
              verb: 'rotated',
              key: await api.json<ApiKey>(`${path}/rotate`, { method: 'POST', body }),
            })
          }
        />
      );
    case 'revoke':
      return (
        <ConfirmDialog
          title={`Revoke ${key.name}?`}
          action="Revoke key"
          isDangerous
          onClose={close}
          onConfirm={async () => {
            await api.json(`${path}/revoke`, { method: 'POST' });
            await changed();
          }}
        >
          <p>
            The key and the sessions made with it stop working at once, and cannot be made to work again. Its record
            stays.
          </p>
        </ConfirmDialog>
      );
    default:
      return (
        <ConfirmDialog
          title={`Delete ${key.name}?`}
          action="Delete key"
          isDangerous
          onClose={close}
          onConfirm={async () => {
            await api.json(path, { method: 'DELETE' });
            await changed();
          }}
        >
          <p>The key stops working at once and its record is gone. Request logs and the audit trail keep its id.</p>
        </ConfirmDialog>
      );
  }
}

/** The only time that the whole value is seen. */
function Reveal({
  issued,
  verb,
  onClose,
}: {
  readonly issued: ApiKey;
  readonly verb: string;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title={`Key ${verb}`} isSticky onClose={onClose}>
      <DialogBody>
        <Banner tone="warn">Copy the key now. It is shown once, and the gateway keeps only its hash.</Banner>
        <CodeBlock label={issued.name} text={issued.key} />
      </DialogBody>
      <DialogActions>
        <Button tone="primary" onClick={onClose}>
          I have stored the key
        </Button>
      </DialogActions>
    </Dialog>
  );
}

const GRACES: readonly (readonly [seconds: string, label: string])[] = [
  ['0', 'Not at all'],
  ['3600', 'For one hour'],
  ['86400', 'For one day'],
  ['604800', 'For seven days'],
];

function Rotate({
  rotated,
  onRotate,
  onClose,
}: {
  readonly rotated: ApiKey;
  readonly onRotate: (body: object) => Promise<void>;
  readonly onClose: () => void;
}) {
  const [grace, setGrace] = useState('0');
  const [endsSessions, setEndsSessions] = useState(false);
  const body = {
    ...(grace === '0' ? {} : { grace_seconds: Number(grace) }),
    ...(endsSessions ? { end_sessions: true } : {}),
  };
  return (
    <ConfirmDialog
      title={`Rotate ${rotated.name}?`}
      action="Rotate key"
      onClose={onClose}
      onConfirm={() => onRotate(body)}
    >
      <p>The key gets a new value, which is shown once. Name, scopes, limits and expiry stay.</p>
      <SelectField
        label="The old value goes on working"
        value={grace}
        onChange={(event) => setGrace(event.target.value)}
      >
        {GRACES.map(([seconds, label]) => (
          <option key={seconds} value={seconds}>
            {label}
          </option>
        ))}
      </SelectField>
      <Checkbox
        label="End the sessions made with this key"
        checked={endsSessions}
        onChange={(event) => setEndsSessions(event.target.checked)}
      />
    </ConfirmDialog>
  );
}
