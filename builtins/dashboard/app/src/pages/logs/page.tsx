import { useState } from 'react';
import { FileDown, Radio, ScrollText, Trash2 } from 'lucide-react';
import { usePolled } from '../../api/polling.ts';
import type { LogEntry, LogPage } from '../../api/wire.ts';
import { rowsIn } from '../../lib/fields.ts';
import { count } from '../../lib/format.ts';
import { useNow } from '../../lib/use-now.ts';
import { useSearch } from '../../lib/use-search.ts';
import { useApi, useCanWrite } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { FilterText } from '../../ui/filter-text.tsx';
import { Filters, SelectField } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { WindowField } from '../../ui/window-field.tsx';
import { ExportDialog } from './export-dialog.tsx';
import { isMaster, keyNameOf, type KnownKeys } from './key-names.ts';
import {
  hasPlaced,
  isSearch,
  type LogFilters,
  logQuery,
  matching,
  OUTCOMES,
  PAGE,
  PLACED,
  readFilters,
  STAGES,
} from './log-filters.ts';
import { LogTable } from './log-table.tsx';
import { SearchPager } from './search-pager.tsx';
import { PurgeDialog } from './purge-dialog.tsx';
import { useKeyChoices, useKeysOf } from './use-keys.ts';
import '../../styles/records.css';
import './logs.css';

const EVERY_SECONDS = 30;
const LIVE_SECONDS = 2;

export default function LogsPage() {
  const api = useApi();
  const canWrite = useCanWrite();
  const [search, change] = useSearch();
  const [isPurging, setPurging] = useState(false);
  const [isExporting, setExporting] = useState(false);
  const filters = readFilters(search);
  const isLive = search.get('live') === '1';
  const now = useNow();
  const { q: _, ...asked } = filters;
  const reading = usePolled<LogPage>({
    key: ['logs', 'rows', asked],
    read: (signal) => api.json(`/admin/logs?${logQuery(filters, api.now())}`, { signal }),
    everySeconds: isLive ? LIVE_SECONDS : EVERY_SECONDS,
    keepsLast: true,
  });
  const rows = rowsIn(reading.data?.data);
  const known = useKeysOf([...rows.map(({ api_key_id }) => api_key_id), filters.key].filter((id) => id !== 'none'));
  const nameOf = (id: string) => keyNameOf(id, known, now);
  const actions = (
    <>
      <Button
        icon={Radio}
        aria-pressed={isLive}
        tone={isLive ? 'primary' : 'secondary'}
        onClick={() => change({ live: isLive ? undefined : '1', offset: undefined, cursor: undefined })}
      >
        Live tail
      </Button>
      {reading.data && (
        <Button icon={FileDown} onClick={() => setExporting(true)}>
          Export
        </Button>
      )}
      {canWrite && reading.data && (
        <Button icon={Trash2} onClick={() => setPurging(true)}>
          Purge
        </Button>
      )}
    </>
  );
  return (
    <Page
      title="Request Logs"
      description="One row per request: who asked, who answered, how long it took and why."
      actions={actions}
    >
      <Panel title="Requests" isFlush>
        <LogFilterRow
          filters={filters}
          rows={rows}
          known={known}
          onChange={(changes) => change({ ...changes, offset: undefined, cursor: undefined })}
        />
        <Loaded reading={reading} what="Request log" notConfigured={<NotConfigured />}>
          {({ data, summary, next }) => {
            const found = matching(data, filters.q, (id) => nameOf(id).name);
            return (
              <>
                {filters.q !== '' && (
                  <p className="logs-note" role="status">
                    {count(found.length, 'row')} of the {data.length} loaded here hold “{filters.q}”.
                  </p>
                )}
                {found.length === 0 ? (
                  <NoRows isFiltered={data.length > 0 || isFiltered(filters)} />
                ) : (
                  <LogTable rows={found} nameOf={nameOf} />
                )}
                {isSearch(filters) && (
                  <SearchPager
                    summary={summary}
                    isFirst={filters.cursor === ''}
                    next={next ?? undefined}
                    onChange={(cursor) => change({ cursor, live: undefined })}
                  />
                )}
                {summary.total_entries !== null && summary.total_entries > PAGE && (
                  <Pager
                    offset={filters.offset}
                    limit={PAGE}
                    total={summary.total_entries}
                    onChange={(next) => change({ offset: next === 0 ? undefined : String(next), live: undefined })}
                  />
                )}
              </>
            );
          }}
        </Loaded>
      </Panel>
      {isExporting && <ExportDialog filters={filters} onClose={() => setExporting(false)} />}
      {isPurging && canWrite && <PurgeDialog filters={filters} onClose={() => setPurging(false)} />}
    </Page>
  );
}

const isFiltered = ({ offset: _offset, cursor: _cursor, q: _q, ...filters }: LogFilters): boolean =>
  Object.values(filters).some((each) => each !== '');

function NoRows({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered ? (
    <Empty icon={ScrollText} title="No row fits these filters" />
  ) : (
    <Empty icon={ScrollText} title="No requests yet">
      Requests show up here as they finish. The Playground is a quick way to send one.
    </Empty>
  );
}

function NotConfigured() {
  return (
    <>
      Set <code>REQUEST_LOG_STORE_BACKEND</code> and list the plugin <code>request-logger</code> with{' '}
      <code>persist: true</code>; then requests are recorded.
    </>
  );
}

interface FilterRowProps {
  readonly filters: LogFilters;
  readonly rows: readonly LogEntry[];
  /** The keys of these rows and of the filter. */
  readonly known: KnownKeys;
  readonly onChange: (changes: Readonly<Record<string, string>>) => void;
}

function LogFilterRow({ filters, rows, known, onChange }: FilterRowProps) {
  const [lookedFor, lookFor] = useState('');
  const choices = useKeyChoices(lookedFor);
  const chosen = known.keys.filter(({ id }) => id === filters.key && !choices.keys.some((each) => each.id === id));
  const keys = [...choices.keys, ...chosen];
  const seen = (read: (row: LogEntry) => string): string[] =>
    [...new Set(rows.map(read))].filter((text) => text !== '').toSorted();
  const masters = seen(({ api_key_id }) => api_key_id).filter(isMaster);
  const isKnown =
    filters.key === '' ||
    filters.key === 'none' ||
    masters.includes(filters.key) ||
    keys.some(({ id }) => id === filters.key);
  return (
    <div className="panel-filters">
      <Filters label="Which requests">
        <FilterText
          label="Find in the whole log"
          value={filters.find}
          placeholder="Trace id, or part of an error"
          onChange={(find) => onChange({ find })}
        />
        <FilterText
          label="Search this page"
          value={filters.q}
          placeholder="Trace id, error, …"
          onChange={(q) => onChange({ q })}
        />
        <FilterText
          label="Provider"
          value={filters.provider}
          suggestions={seen(({ provider }) => provider)}
          onChange={(provider) => onChange({ provider })}
        />
        <FilterText
          label="Model"
          value={filters.model}
          suggestions={seen(({ model }) => model)}
          onChange={(model) => onChange({ model })}
        />
        <SelectField
          label="Outcome"
          value={filters.outcome}
          onChange={(event) => onChange({ outcome: event.target.value })}
        >
          {OUTCOMES.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </SelectField>
        <SelectField label="Stage" value={filters.stage} onChange={(event) => onChange({ stage: event.target.value })}>
          {STAGES.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </SelectField>
        {(choices.areMany || lookedFor !== '') && (
          <FilterText label="Find a key" value={lookedFor} placeholder="Part of its name" onChange={lookFor} />
        )}
        <SelectField label="API key" value={filters.key} onChange={(event) => onChange({ key: event.target.value })}>
          <option value="">All keys</option>
          <option value="none">No API key</option>
          {masters.map((id) => (
            <option key={id} value={id}>
              Master key
            </option>
          ))}
          {keys.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
          {!isKnown && <option value={filters.key}>{filters.key}</option>}
        </SelectField>
        {PLACED.filter((each) => hasPlaced(rows, each) || filters[each.filter] !== '').map(
          ({ column, filter, label }) => (
            <FilterText
              key={filter}
              label={label}
              value={filters[filter]}
              suggestions={seen((row) => row[column] ?? '')}
              onChange={(value) => onChange({ [filter]: value })}
            />
          ),
        )}
        <WindowField value={filters.window} onChange={(window) => onChange({ window })} />
      </Filters>
    </div>
  );
}
