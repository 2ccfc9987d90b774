import { useState } from 'react';
import { Pencil, RotateCcw } from 'lucide-react';
import { useQueryClient } from '@tanstack/react-query';
import { messageOf } from '../../api/api-error.ts';
import { CredentialChip } from '../../instances/credential-chip.tsx';
import { isKept } from '../../instances/credential-text.ts';
import { count, DASH, integer } from '../../lib/format.ts';
import { useApi, useCanWrite } from '../../services.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Pill } from '../../ui/pill.tsx';
import { Banner } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import type { Instance } from './instances.ts';
import { ModelsDialog } from './models-dialog.tsx';
import { STATES } from './provider-states.ts';

export interface InstanceTableProps {
  readonly instances: readonly Instance[];
  readonly onChange: (name: string) => void;
}

/** One row per instance. What keeps a credential from calls can be forgotten by hand. */
export function InstanceTable({ instances, onChange }: InstanceTableProps) {
  const canWrite = useCanWrite();
  const [openName, setOpenName] = useState<string>();
  const { reset, said, busy } = useReset();
  const opened = instances.find(({ name }) => name === openName);
  const columns: readonly Column<Instance>[] = [
    ...FACTS,
    {
      key: 'models',
      header: 'Models',
      cell: ({ name, models }) =>
        models.length === 0 ? (
          'none'
        ) : (
          <Button
            size="small"
            aria-label={`${count(models.length, 'model')} of ${name}`}
            onClick={() => setOpenName(name)}
          >
            {count(models.length, 'model')}
          </Button>
        ),
    },
    {
      key: 'credentials',
      header: 'Credentials',
      cell: (instance) => <Credentials instance={instance} busy={busy} {...(canWrite ? { onReset: reset } : {})} />,
    },
    { key: 'flight', header: 'In flight', isFigure: true, cell: ({ inFlight }) => integer(inFlight) },
    { key: 'source', header: 'Source', cell: ({ source }) => source },
  ];
  const tasks: Column<Instance> = {
    key: 'tasks',
    header: 'Actions',
    hidesHeader: true,
    cell: ({ name, source }) =>
      source === 'configuration' && (
        <IconButton icon={Pencil} label={`Change ${name}`} onClick={() => onChange(name)} />
      ),
  };
  return (
    <Panel title="Instances" description="Each use of a kind of provider under a name of its own." isFlush>
      {said && <Banner tone={said.tone}>{said.text}</Banner>}
      <Table
        label="Instances"
        columns={canWrite ? [...columns, tasks] : columns}
        rows={instances}
        rowKey={({ name }) => name}
      />
      {opened && (
        <ModelsDialog
          provider={{ ...opened, modelCount: opened.models.length }}
          onClose={() => setOpenName(undefined)}
        />
      )}
    </Panel>
  );
}

const FACTS: readonly Column<Instance>[] = [
  {
    key: 'name',
    header: 'Name',
    cell: ({ name, state, message }) => (
      <span className="instance-name">
        <b className="break">{name}</b>
        <span className="row">
          <Pill tone={STATES[state].tone} hasDot>
            {STATES[state].name}
          </Pill>
          {message !== undefined && <span className="muted">{message}</span>}
        </span>
      </span>
    ),
  },
  { key: 'kind', header: 'Kind', cell: ({ kind }) => <span className="break">{kind}</span> },
  { key: 'host', header: 'Host', cell: ({ host }) => <span className="break">{host ?? "the kind's own"}</span> },
];

function Credentials({
  instance: { name, credentials },
  busy,
  onReset,
}: {
  readonly instance: Instance;
  readonly busy: string | undefined;
  readonly onReset?: (instance: string, credential: string) => void;
}) {
  if (credentials.length === 0) return DASH;
  return (
    <ul className="instance-chips">
      {credentials.map((credential) => (
        <li key={credential.name} className="instance-chip">
          <CredentialChip credential={credential} />
          {onReset && isKept(credential) && (
            <IconButton
              icon={RotateCcw}
              label={`Reset ${credential.name} of ${name}`}
              disabled={busy === `${name}/${credential.name}`}
              onClick={() => onReset(name, credential.name)}
            />
          )}
        </li>
      ))}
    </ul>
  );
}

interface Said {
  readonly tone: 'ok' | 'bad';
  readonly text: string;
}

/** Lets a credential be called again, and says so. */
function useReset() {
  const api = useApi();
  const queries = useQueryClient();
  const [said, setSaid] = useState<Said>();
  const [busy, setBusy] = useState<string>();
  const act = async (instance: string, credential: string): Promise<void> => {
    const path = [instance, credential].map(encodeURIComponent).join('/credentials/');
    await api.json(`/admin/providers/${path}/reset`, { method: 'POST' });
    setSaid({ tone: 'ok', text: `${credential} of ${instance} may be called again.` });
    await Promise.all(['providers', 'health'].map((key) => queries.invalidateQueries({ queryKey: [key] })));
  };
  const reset = (instance: string, credential: string): void => {
    setBusy(`${instance}/${credential}`);
    setSaid(undefined);
    act(instance, credential)
      .catch((error: unknown) => setSaid({ tone: 'bad', text: messageOf(error) }))
      .finally(() => setBusy(undefined));
  };
  return { reset, said, busy };
}
