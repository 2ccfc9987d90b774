import { useState } from 'react';
import { LogOut, MonitorSmartphone } from 'lucide-react';
import { useQueryClient } from '@tanstack/react-query';
import type { SessionEntry } from '../../api/admin-wire.ts';
import { usePolled } from '../../api/polling.ts';
import { rowsIn } from '../../lib/fields.ts';
import { useApi, useCanWrite, useServices } from '../../services.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Pill } from '../../ui/pill.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { TimeAgo } from '../../ui/time.tsx';

type Ending = { readonly kind: 'one'; readonly session: SessionEntry } | { readonly kind: 'all' };

/** Who is signed in to this dashboard, and the way to end it. */
export function SessionList() {
  const api = useApi();
  const canWrite = useCanWrite();
  const [ending, setEnding] = useState<Ending>();
  const reading = usePolled<{ readonly data: readonly SessionEntry[] }>({
    key: ['sessions'],
    read: (signal) => api.json('/admin/sessions', { signal }),
    everySeconds: 30,
  });
  const hasSessions = rowsIn(reading.data?.data).length > 0;
  return (
    <>
      <Panel
        title="Sessions"
        isFlush
        description="Each sign-in with a key makes one. It ends with its key, after an hour without use, or after a day."
        actions={
          canWrite &&
          hasSessions && (
            <Button icon={LogOut} onClick={() => setEnding({ kind: 'all' })}>
              Sign out all
            </Button>
          )
        }
      >
        <Loaded reading={reading} what="Sessions" notConfigured="This gateway keeps no sessions.">
          {({ data }) =>
            data.length === 0 ? (
              <Empty icon={MonitorSmartphone} title="No sessions" />
            ) : (
              <SessionTable sessions={data} onEnd={(session) => setEnding({ kind: 'one', session })} />
            )
          }
        </Loaded>
      </Panel>
      {ending && canWrite && <EndDialog ending={ending} onClose={() => setEnding(undefined)} />}
    </>
  );
}

function SessionTable({
  sessions,
  onEnd,
}: {
  readonly sessions: readonly SessionEntry[];
  readonly onEnd: (session: SessionEntry) => void;
}) {
  const canWrite = useCanWrite();
  const columns: readonly Column<SessionEntry>[] = [
    { key: 'subject', header: 'Subject', cell: ({ subject }) => <strong className="break">{subject}</strong> },
    {
      key: 'credential',
      header: 'Credential',
      cell: ({ credential_id }) => <span className="mono break">{credential_id}</span>,
    },
    { key: 'scopes', header: 'Scopes at sign-in', cell: ({ scopes }) => scopes.join(', ') },
    { key: 'created', header: 'Signed in', isOneLine: true, cell: ({ created_at }) => <TimeAgo at={created_at} /> },
    {
      key: 'seen',
      header: 'Last seen',
      isOneLine: true,
      cell: ({ last_seen_at, created_at }) => <TimeAgo at={last_seen_at ?? created_at} />,
    },
    { key: 'expires', header: 'Ends', isOneLine: true, cell: ({ expires_at }) => <TimeAgo at={expires_at} /> },
    {
      key: 'state',
      header: 'State',
      cell: ({ active }) =>
        active === false ? (
          <Pill tone="warn">Key ended</Pill>
        ) : (
          <Pill tone="ok" hasDot>
            Alive
          </Pill>
        ),
    },
    ...(canWrite
      ? [
          {
            key: 'do',
            header: 'Actions',
            hidesHeader: true,
            cell: (session: SessionEntry) => (
              <IconButton
                icon={LogOut}
                label={`Sign out ${session.subject}, session ${session.id.slice(0, 8)}`}
                onClick={() => onEnd(session)}
              />
            ),
          },
        ]
      : []),
  ];
  return <Table label="Sessions" columns={columns} rows={sessions} rowKey={({ id }) => id} />;
}

function EndDialog({ ending, onClose }: { readonly ending: Ending; readonly onClose: () => void }) {
  const { api, session } = useServices();
  const queries = useQueryClient();
  const endAll = async (): Promise<void> => {
    const token = session.current?.token;
    await api.json('/admin/sessions', { method: 'DELETE' });
    if (token !== undefined) session.end(token); // it was one of them
  };
  const endOne = async (id: string): Promise<void> => {
    await api.json(`/admin/sessions/${encodeURIComponent(id)}`, { method: 'DELETE' });
    onClose();
    await queries.invalidateQueries({ queryKey: ['sessions'] });
  };
  if (ending.kind === 'all') {
    return (
      <ConfirmDialog
        title="Sign out all sessions?"
        action="Sign out all"
        isDangerous
        onConfirm={endAll}
        onClose={onClose}
      >
        <p>Every session ends at once, this one too. Keys go on working.</p>
      </ConfirmDialog>
    );
  }
  return (
    <ConfirmDialog
      title={`Sign out ${ending.session.subject}?`}
      action="Sign out"
      isDangerous
      onConfirm={() => endOne(ending.session.id)}
      onClose={onClose}
    >
      <p>The session ends at once. The key behind it goes on working.</p>
    </ConfirmDialog>
  );
}
