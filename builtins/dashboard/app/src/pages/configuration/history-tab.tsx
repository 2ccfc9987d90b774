import { useState } from 'react';
import { GitCompareArrows, History, Undo2 } from 'lucide-react';
import { useQueryClient } from '@tanstack/react-query';
import type { ConfigVersion } from '../../api/admin-wire.ts';
import { usePolled } from '../../api/polling.ts';
import { count } from '../../lib/format.ts';
import { useApi, useCanWrite } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Pill } from '../../ui/pill.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { TimeAgo } from '../../ui/time.tsx';
import { DiffView } from './diff-view.tsx';
import { changedParts, textOf } from './document-text.ts';

/** A version with what it changed of the one before it. */
interface Row extends ConfigVersion {
  readonly parts: readonly string[];
  readonly isActive: boolean;
}

export function HistoryTab({
  active,
  onNotice,
}: {
  readonly active: unknown;
  readonly onNotice: (text: string) => void;
}) {
  const api = useApi();
  const queries = useQueryClient();
  const [target, setTarget] = useState<number>();
  const reading = usePolled<{ readonly data: readonly ConfigVersion[] }>({
    key: ['config', 'history'],
    read: (signal) => api.json('/admin/config/history', { signal }),
  });
  const rollBack = async (version: number): Promise<void> => {
    await api.json(`/admin/config/rollback/${version}`, { method: 'POST' });
    setTarget(undefined);
    onNotice(`Rolled back: version ${version} is active again, as a new version.`);
    await queries.invalidateQueries({ queryKey: ['config'] });
  };
  return (
    <Panel title="Versions" isFlush description="Every change of the running configuration, the newest first.">
      <Loaded reading={reading} what="History">
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon={History} title="No changes yet">
              The configuration is the one that the gateway started with.
            </Empty>
          ) : (
            <VersionTable rows={rowsOf(data)} active={active} onRollBack={setTarget} />
          )
        }
      </Loaded>
      {target !== undefined && (
        <ConfirmDialog
          title={`Roll back to version ${target}?`}
          action="Roll back"
          onConfirm={() => rollBack(target)}
          onClose={() => setTarget(undefined)}
        >
          <p>
            The configuration of version {target} becomes active at once, as a new version. Requests under way end with
            the one they began with.
          </p>
        </ConfirmDialog>
      )}
    </Panel>
  );
}

function rowsOf(versions: readonly ConfigVersion[]): Row[] {
  const rows = versions.map((version, at) => ({
    ...version,
    isActive: at === versions.length - 1,
    parts: at === 0 ? [] : changedParts(versions[at - 1]?.config ?? {}, version.config),
  }));
  return rows.toReversed();
}

function VersionTable({
  rows,
  active,
  onRollBack,
}: {
  readonly rows: readonly Row[];
  readonly active: unknown;
  readonly onRollBack: (version: number) => void;
}) {
  const canWrite = useCanWrite();
  const [opened, setOpened] = useState<number>();
  const columns: readonly Column<Row>[] = [
    {
      key: 'version',
      header: 'Version',
      cell: ({ version, isActive, rolled_back_from }) => (
        <span className="row">
          <strong>{version}</strong>
          {isActive && (
            <Pill tone="ok" hasDot>
              Active
            </Pill>
          )}
          {rolled_back_from !== null && <Pill>Rollback from {rolled_back_from}</Pill>}
        </span>
      ),
    },
    { key: 'time', header: 'Time', isOneLine: true, cell: ({ updated_at }) => <TimeAgo at={updated_at} /> },
    { key: 'actor', header: 'Actor', cell: ({ actor }) => <span className="break">{actor || 'not recorded'}</span> },
    {
      key: 'parts',
      header: 'Changed',
      cell: ({ parts }) => <span className="break">{parts.join(', ') || 'nothing before it to compare'}</span>,
    },
    {
      key: 'do',
      header: 'Actions',
      hidesHeader: true,
      cell: ({ version, isActive }) =>
        !isActive && (
          <span className="row version-tasks">
            <Button
              size="small"
              icon={GitCompareArrows}
              aria-expanded={opened === version}
              aria-label={`Compare version ${version} with the active one`}
              onClick={() => setOpened(opened === version ? undefined : version)}
            >
              Compare
            </Button>
            {canWrite && (
              <Button
                size="small"
                icon={Undo2}
                aria-label={`Roll back to version ${version}`}
                onClick={() => onRollBack(version)}
              >
                Roll back
              </Button>
            )}
          </span>
        ),
    },
  ];
  const detail = ({ version, config }: Row) =>
    opened === version && (
      <div className="stack">
        <p>
          What rolling back to version {version} would change:{' '}
          {count(changedParts(active as Row['config'], config).length, 'section')} (
          {changedParts(active as Row['config'], config).join(', ') || 'none'}).
        </p>
        <DiffView
          label={`Difference between the active version and version ${version}`}
          before={textOf(active, 'json')}
          after={textOf(config, 'json')}
        />
      </div>
    );
  return (
    <Table label="Versions" columns={columns} rows={rows} rowKey={({ version }) => String(version)} detail={detail} />
  );
}
