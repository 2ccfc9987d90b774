import { useState } from 'react';
import { LogOut, MonitorSmartphone } from 'lucide-react';
import { useQueryClient } from '@tanstack/react-query';
import type { SessionEntry } from '../../api/admin-wire.ts';
import { usePolled } from '../../api/polling.ts';
import { rowsIn } from '../../lib/fields.ts';
import { integer } from '../../lib/format.ts';
import { useApi, useCanWrite, useServices } from '../../services.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Pill } from '../../ui/pill.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { TimeAgo } from '../../ui/time.tsx';

/** Sessions that are shown at first, and that are added each time that more are asked for. */
const PAGE = 100;
/** The gateway gives no more at once. */
const LONGEST_PAGE = 1000;

type Ending = { readonly kind: 'one'; readonly session: SessionEntry } | { readonly kind: 'all' };

/** Who is signed in to this dashboard, and the way to end it. */
export function SessionList() {
  const api = useApi();
  const canWrite = useCanWrite();
  const [ending, setEnding] = useState<Ending>();
  const [limit, setLimit] = useState(PAGE);
  const reading = usePolled<{ readonly data: readonly SessionEntry[]; readonly hasMore: boolean }>({
    key: ['sessions', limit],
    read: async (signal) => {
      const { data, headers } = await api.answered(`/admin/sessions?limit=${limit}`, { signal });
      return { ...(data as { readonly data: readonly SessionEntry[] }), hasMore: headers.has('link') };
    },
    everySeconds: 30,
    keepsLast: true,
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
          {({ data, hasMore }) =>
            data.length === 0 ? (
              <Empty icon={MonitorSmartphone} title="No sessions" />
            ) : (
              <>
                <SessionTable sessions={data} onEnd={(session) => setEnding({ kind: 'one', session })} />
                {hasMore && <More shown={data.length} onMore={limit < LONGEST_PAGE ? setLimit : undefined} />}
              </>
            )
          }
        </Loaded>
      </Panel>
      {ending && canWrite && <EndDialog ending={ending} onClose={() => setEnding(undefined)} />}
    </>
  );
}

/** The newest are shown; older ones where they are asked for, as far as the gateway gives them at once. */
function More({
  shown,
  onMore,
}: {
  readonly shown: number;
  readonly onMore: ((change: (limit: number) => number) => void) | undefined;
}) {
  return (
    <nav className="pager" aria-label="Parts of the list">
      <p className="pager-range" role="status">
        The {integer(shown)} newest sessions
      </p>
      {onMore && (
        <Button size="small" onClick={() => onMore((limit) => Math.min(LONGEST_PAGE, limit + PAGE))}>
          Show more
        </Button>
      )}
    </nav>
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
