import { useState } from 'react';
import { Link } from 'wouter';
import { Ban, KeyRound, Pencil, Plus, RotateCw, Trash2 } from 'lucide-react';
import type { ApiKey, KeyUsage, UsedKey } from '../../api/admin-wire.ts';
import { usePolled } from '../../api/polling.ts';
import { Share } from '../../charts/share.tsx';
import { count, DASH, integer, usd } from '../../lib/format.ts';
import { useNow } from '../../lib/use-now.ts';
import { useUnsent } from '../../lib/use-unsent.ts';
import { offsetIn, withQuery } from '../../lib/query-string.ts';
import { useSearch } from '../../lib/use-search.ts';
import { useApi, useCanWrite } from '../../services.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Filters, SelectField } from '../../ui/form.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Pill } from '../../ui/pill.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Tile, Tiles } from '../../ui/tile.tsx';
import { TimeAgo } from '../../ui/time.tsx';
import { KeyDialog, type KeyTask } from './key-dialogs.tsx';
import { KEY_TONES, stateOf } from './key-state.ts';

const PAGE = 20;
const SORTS = [
  ['usage', 'Most used'],
  ['last_used', 'Last used'],
  ['spend', 'Most spent'],
] as const;

/** The keys of the gateway, with what each was used for. */
export function KeyList() {
  const api = useApi();
  const canWrite = useCanWrite();
  const [search, change] = useSearch();
  const [task, setTask] = useKeyTask();
  const sort = SORTS.find(([word]) => word === search.get('sort'))?.[0] ?? 'usage';
  const active = search.get('active') ?? '';
  const offset = offsetIn(search);
  const query = new URLSearchParams({ limit: String(PAGE), offset: String(offset), sort, active });
  const reading = usePolled<KeyUsage>({
    key: ['keys', 'usage', query.toString()],
    read: (signal) => api.json(`/admin/keys/usage?${query}`, { signal }),
    keepsLast: true,
  });
  const create = canWrite && (
    <Button tone="primary" icon={Plus} onClick={() => setTask({ kind: 'create' })}>
      Create key
    </Button>
  );
  return (
    <>
      <Loaded reading={reading} what="API keys">
        {({ data, summary }) => (
          <>
            <Tiles label="Keys in figures">
              <Tile label="Keys" value={integer(summary.total_keys)} />
              <Tile label="Not revoked" value={integer(summary.active_keys)} />
              <Tile
                label="Uses"
                value={integer(summary.total_usage)}
                note="Requests that the keys themselves authenticated"
              />
            </Tiles>
            <Panel title="API keys" isFlush actions={create}>
              <div className="panel-filters">
                <Filters label="Which keys">
                  <SelectField
                    label="Sort by"
                    value={sort}
                    onChange={(event) => change({ sort: event.target.value, offset: undefined })}
                  >
                    {SORTS.map(([word, label]) => (
                      <option key={word} value={word}>
                        {label}
                      </option>
                    ))}
                  </SelectField>
                  <SelectField
                    label="State"
                    value={active}
                    onChange={(event) => change({ active: event.target.value, offset: undefined })}
                  >
                    <option value="">All</option>
                    <option value="true">Not revoked</option>
                    <option value="false">Revoked</option>
                  </SelectField>
                </Filters>
                <p className="visually-hidden" role="status">
                  {count(summary.total_keys, 'key')}
                </p>
              </div>
              {data.length === 0 ? <NoKeys isFiltered={active !== ''} /> : <KeyTable keys={data} onTask={setTask} />}
              {summary.total_keys > PAGE && (
                <Pager
                  offset={offset}
                  limit={PAGE}
                  total={summary.total_keys}
                  onChange={(next) => change({ offset: next === 0 ? undefined : String(next) })}
                />
              )}
            </Panel>
          </>
        )}
      </Loaded>
      {task && canWrite && <KeyDialog key={task.kind} task={task} onTask={setTask} />}
    </>
  );
}

/** What is written into a form, and a key that is seen once, outlive a session that ends meanwhile; a question whether to delete does not. */
function useKeyTask(): readonly [KeyTask | undefined, (task: KeyTask | undefined) => void] {
  const [kept, keep] = useUnsent<{ readonly task?: KeyTask }>('key task', () => ({}));
  const [asked, ask] = useState<KeyTask>();
  const change = (task: KeyTask | undefined): void => {
    const isKept = task?.kind === 'create' || task?.kind === 'edit' || task?.kind === 'reveal';
    keep(isKept ? { task } : {});
    ask(isKept ? undefined : task);
  };
  return [asked ?? kept.task, change];
}

function NoKeys({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered ? (
    <Empty icon={KeyRound} title="No key is in this state" />
  ) : (
    <Empty icon={KeyRound} title="No keys yet">
      Applications call the gateway with a key of their own, which you can limit, rotate and revoke.
    </Empty>
  );
}

function KeyTable({ keys, onTask }: { readonly keys: readonly UsedKey[]; readonly onTask: (task: KeyTask) => void }) {
  const canWrite = useCanWrite();
  const now = useNow();
  const columns: readonly Column<UsedKey>[] = [
    {
      key: 'name',
      header: 'Name',
      cell: (key) => (
        <div className="key-name">
          <strong className="break">{key.name}</strong>
          <Limits limited={key} />
        </div>
      ),
    },
    { key: 'key', header: 'Key', cell: ({ key }) => <span className="mono">{key}</span>, isOneLine: true },
    {
      key: 'scopes',
      header: 'Access',
      cell: ({ scopes, access }) => (
        <span className="row">
          {access === 'inference' && <Pill tone="neutral">Inference</Pill>}
          {(access === 'inference' ? [] : scopes).map((scope) => (
            <Pill key={scope} tone={scope === 'admin' ? 'accent' : 'neutral'}>
              {scope === 'read_only' ? 'Read only' : scope === 'admin' ? 'Admin' : scope}
            </Pill>
          ))}
        </span>
      ),
    },
    { key: 'state', header: 'State', cell: (key) => <StatePill of={key} now={now} /> },
    { key: 'uses', header: 'Uses', isFigure: true, cell: ({ usage_count }) => integer(usage_count) },
    ...(keys.some(({ account }) => account !== undefined) ? [ACCOUNT] : []),
    ...(keys.some(({ spend }) => spend !== undefined) ? [SPENT] : []),
    {
      key: 'used',
      header: 'Last used',
      isOneLine: true,
      cell: ({ last_used_at }) => (last_used_at === undefined ? 'Never' : <TimeAgo at={last_used_at} />),
    },
    {
      key: 'expires',
      header: 'Expires',
      isOneLine: true,
      cell: ({ expires_at }) => (expires_at === undefined ? 'Never' : <TimeAgo at={expires_at} />),
    },
    {
      key: 'rotated',
      header: 'Rotated',
      isOneLine: true,
      cell: ({ rotated_at }) => (rotated_at === undefined ? DASH : <TimeAgo at={rotated_at} />),
    },
    ...(canWrite
      ? [
          {
            key: 'do',
            header: 'Actions',
            hidesHeader: true,
            isOneLine: true,
            cell: (key: ApiKey) => <Tasks of={key} isUsable={stateOf(key, now) === 'active'} onTask={onTask} />,
          },
        ]
      : []),
  ];
  return <Table label="API keys" columns={columns} rows={keys} rowKey={({ id }) => id} />;
}

const ACCOUNT: Column<UsedKey> = {
  key: 'account',
  header: 'Account',
  cell: ({ account }) =>
    account === undefined ? (
      DASH
    ) : (
      <Link className="break" href={withQuery('/accounts', { under: account })}>
        {account}
      </Link>
    ),
};

const SPENT: Column<UsedKey> = {
  key: 'spent',
  header: 'This month',
  isFigure: true,
  cell: ({ spend }) => (
    <div className="key-spent">
      {usd(spend?.month_usd)}
      {spend?.remaining_usd !== undefined && <Left month={spend.month_usd} left={spend.remaining_usd} />}
    </div>
  ),
};

/** What was spent this month of that and what is left. The amounts stand beside the bar. */
function Left({ month, left }: { readonly month: number; readonly left: number }) {
  return (
    <>
      <Share of={month + left > 0 ? month / (month + left) : 1} />
      <span className="key-limits-line">{usd(left)} left</span>
    </>
  );
}

function StatePill({ of, now }: { readonly of: ApiKey; readonly now: number }) {
  const state = stateOf(of, now);
  return (
    <Pill tone={KEY_TONES[state]} hasDot>
      {state === 'active' ? 'Active' : state === 'expired' ? 'Expired' : 'Revoked'}
    </Pill>
  );
}

/** What the key may not do. */
function Limits({ limited: { models, providers, rpm, tpm, budget_usd, budgets, tags } }: { readonly limited: ApiKey }) {
  const parts = [
    models && count(models.length, 'model'),
    providers && count(providers.length, 'target'),
    rpm !== undefined && `${integer(rpm)} requests/min`,
    tpm !== undefined && `${integer(tpm)} tokens/min`,
    budget_usd !== undefined && `budget ${usd(budget_usd)}`,
    budgets && count(budgets.length, 'budget'),
    tags && tags.join(', '),
  ].filter((part) => typeof part === 'string' && part !== '');
  return parts.length === 0 ? null : <span className="key-limits-line">{parts.join(' · ')}</span>;
}

function Tasks({
  of: key,
  isUsable,
  onTask,
}: {
  readonly of: ApiKey;
  readonly isUsable: boolean;
  readonly onTask: (task: KeyTask) => void;
}) {
  return (
    <span className="key-tasks">
      <IconButton icon={Pencil} label={`Edit ${key.name}`} onClick={() => onTask({ kind: 'edit', key })} />
      <IconButton
        icon={RotateCw}
        label={`Rotate ${key.name}`}
        disabled={!isUsable}
        onClick={() => onTask({ kind: 'rotate', key })}
      />
      <IconButton
        icon={Ban}
        label={`Revoke ${key.name}`}
        disabled={key.revoked_at !== undefined}
        onClick={() => onTask({ kind: 'revoke', key })}
      />
      <IconButton icon={Trash2} label={`Delete ${key.name}`} onClick={() => onTask({ kind: 'delete', key })} />
    </span>
  );
}
