import { useState } from 'react';
import { ChevronDown, ChevronRight, ShieldCheck } from 'lucide-react';
import { Link } from 'wouter';
import type { AuditEntry, AuditPage } from '../../api/admin-wire.ts';
import { usePolled } from '../../api/polling.ts';
import { absoluteTime, count, DASH } from '../../lib/format.ts';
import { offsetIn } from '../../lib/query-string.ts';
import { useSearch } from '../../lib/use-search.ts';
import { sinceOf } from '../../lib/record-window.ts';
import { useApi } from '../../services.ts';
import { IconButton } from '../../ui/button.tsx';
import { FilterText } from '../../ui/filter-text.tsx';
import { Filters, SelectField } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Pill, type Tone } from '../../ui/pill.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { TimeAgo } from '../../ui/time.tsx';
import { WindowField } from '../../ui/window-field.tsx';
import { ACTIONS, detailText, nearMiss } from './audit-text.ts';
import '../../styles/records.css';
import './audit.css';

const PAGE = 50;
const EVERY_SECONDS = 30;
const TONES: ReadonlyMap<string, Tone> = new Map([
  ['denied', 'warn'],
  ['error', 'bad'],
]);

export default function AuditTrailPage() {
  const api = useApi();
  const [search, change] = useSearch();
  const text = (name: string): string => search.get(name) ?? '';
  const offset = offsetIn(search);
  const asked = {
    action: text('action'),
    actor_id: text('actor_id'),
    outcome: text('outcome'),
    window: text('window'),
    offset,
  };
  const query = (): URLSearchParams =>
    new URLSearchParams(
      Object.entries({
        limit: String(PAGE),
        offset: String(offset),
        action: asked.action,
        actor_id: asked.actor_id,
        outcome: asked.outcome,
        since: sinceOf(asked.window, api.now()) ?? '',
      }).filter(([, value]) => value !== ''),
    );
  const reading = usePolled<AuditPage>({
    key: ['audit', asked],
    read: (signal) => api.json(`/admin/audit?${query()}`, { signal }),
    everySeconds: EVERY_SECONDS,
    keepsLast: true,
  });
  const narrow = (changes: Readonly<Record<string, string>>): void => change({ ...changes, offset: undefined });
  const missed = nearMiss(asked.action);
  return (
    <Page
      title="Audit Trail"
      description="Every change of keys, sessions, logs and the configuration, and every one that was refused."
    >
      <Panel title="Entries" isFlush>
        <div className="panel-filters">
          <Filters label="Which entries">
            <FilterText
              label="Action"
              value={asked.action}
              suggestions={ACTIONS}
              placeholder="key.create"
              onChange={(action) => narrow({ action })}
            />
            <FilterText label="Actor id" value={asked.actor_id} onChange={(actor_id) => narrow({ actor_id })} />
            <SelectField
              label="Outcome"
              value={asked.outcome}
              onChange={(event) => narrow({ outcome: event.target.value })}
            >
              <option value="">All outcomes</option>
              <option value="ok">OK</option>
              <option value="denied">Denied</option>
              <option value="error">Error</option>
            </SelectField>
            <WindowField value={asked.window} onChange={(window) => narrow({ window })} />
          </Filters>
          {missed !== undefined && (
            <p className="audit-note" role="status">
              Actions are compared exactly, and “{asked.action}” is not one. Did you mean{' '}
              <button type="button" className="link-button" onClick={() => narrow({ action: missed })}>
                {missed}
              </button>
              ?
            </p>
          )}
        </div>
        <Loaded reading={reading} what="Audit trail" notConfigured="This gateway keeps no audit trail.">
          {({ data, summary }) => (
            <>
              <p className="visually-hidden" role="status">
                {count(summary.total_entries, 'entry', 'entries')}
              </p>
              {data.length === 0 ? <Empty icon={ShieldCheck} title="No entry fits" /> : <AuditTable entries={data} />}
              {summary.total_entries > PAGE && (
                <Pager
                  offset={offset}
                  limit={PAGE}
                  total={summary.total_entries}
                  onChange={(next) => change({ offset: next === 0 ? undefined : String(next) })}
                />
              )}
            </>
          )}
        </Loaded>
      </Panel>
    </Page>
  );
}

/** A key that stays with an entry however often it is read, and wherever it stands by then: an open row stays open, and the focus where it is. */
const entryId = ({ occurred_at, action, outcome, target_id = '', trace_id = '' }: AuditEntry): string =>
  [occurred_at, action, outcome, target_id, trace_id].join(' ');

function AuditTable({ entries }: { readonly entries: readonly AuditEntry[] }) {
  const [opened, setOpened] = useState<string>();
  const columns: readonly Column<AuditEntry>[] = [
    { key: 'time', header: 'Time', isOneLine: true, cell: ({ occurred_at }) => <TimeAgo at={occurred_at} /> },
    { key: 'action', header: 'Action', cell: ({ action }) => <span className="mono">{action}</span> },
    {
      key: 'outcome',
      header: 'Outcome',
      cell: ({ outcome }) => <Pill tone={TONES.get(outcome) ?? 'neutral'}>{outcome}</Pill>,
    },
    { key: 'actor', header: 'Actor', cell: ({ actor }) => <span className="break">{actor}</span> },
    {
      key: 'target',
      header: 'Target',
      cell: ({ target_id }) => <span className="mono break">{target_id ?? DASH}</span>,
    },
    { key: 'address', header: 'Address', cell: ({ source_ip }) => source_ip ?? DASH },
    {
      key: 'detail',
      header: 'Detail',
      hidesHeader: true,
      cell: (entry) => {
        const isOpen = opened === entryId(entry);
        return (
          <IconButton
            icon={isOpen ? ChevronDown : ChevronRight}
            label={`Details of ${entry.action}, ${absoluteTime(Date.parse(entry.occurred_at))}`}
            aria-expanded={isOpen}
            onClick={() => setOpened(isOpen ? undefined : entryId(entry))}
          />
        );
      },
    },
  ];
  return (
    <Table
      label="Audit entries"
      columns={columns}
      rows={entries}
      rowKey={entryId}
      detail={(entry) => opened === entryId(entry) && <AuditDetail entry={entry} />}
    />
  );
}

function AuditDetail({ entry: { occurred_at, actor_id, trace_id, detail } }: { readonly entry: AuditEntry }) {
  return (
    <div className="record-detail" data-single>
      <dl className="definitions">
        <dt>Time</dt>
        <dd>{absoluteTime(Date.parse(occurred_at))}</dd>
        <dt>Actor id</dt>
        <dd className="mono">{actor_id ?? DASH}</dd>
        <dt>Trace id</dt>
        <dd>
          {trace_id === undefined ? (
            DASH
          ) : (
            <Link className="mono" href={`/logs?find=${encodeURIComponent(trace_id)}`}>
              {trace_id}
            </Link>
          )}
        </dd>
      </dl>
      {detail === undefined ? (
        <p className="muted">No more is recorded.</p>
      ) : (
        <pre className="code-block code-block-text" role="region" aria-label="Detail" tabIndex={0}>
          {detailText(detail)}
        </pre>
      )}
    </div>
  );
}
