import { Activity, CircleDollarSign, KeyRound, Percent, Server } from 'lucide-react';
import { Link } from 'wouter';
import type { Accounts } from '../../api/answers.ts';
import { isNotConfigured } from '../../api/api-error.ts';
import { type Reading, usePolled } from '../../api/polling.ts';
import type { Dashboard, DeepHealth, LogPage, LogStatistics, Readiness } from '../../api/wire.ts';
import { Bars } from '../../charts/bars.tsx';
import { REQUEST_LAYERS } from '../../charts/layers.ts';
import { chartPoints } from '../../charts/series.ts';
import { compact, count, DASH, integer, percent } from '../../lib/format.ts';
import { withQuery } from '../../lib/query-string.ts';
import { useSearch } from '../../lib/use-search.ts';
import { windowHours, windowName, WINDOWS, windowStart } from '../../lib/windows.ts';
import { useApi } from '../../services.ts';
import { Segmented } from '../../ui/form.tsx';
import { Contained } from '../../ui/contained.tsx';
import { Page } from '../../ui/page.tsx';
import { Columns, Panel } from '../../ui/panel.tsx';
import type { Tone } from '../../ui/pill.tsx';
import { Empty, FailureBanner, Loaded } from '../../ui/states.tsx';
import { Tile, Tiles } from '../../ui/tile.tsx';
import { LogsDisabled } from '../../ui/logs-disabled.tsx';
import { RecentRequests } from './recent-requests.tsx';
import { Components, ReadinessView } from './states-panels.tsx';

const EVERY_SECONDS = 30;
const ACCOUNTS_EVERY_SECONDS = 60;
/** Accounts whose budgets are looked at. */
const MOST_ACCOUNTS = 1000;
const NEARLY = 0.8;

export default function OverviewPage() {
  const api = useApi();
  const [search, setSearch] = useSearch();
  const hours = windowHours(search.get('window'));
  const dashboard = usePolled<Dashboard>({
    key: ['dashboard'],
    everySeconds: EVERY_SECONDS,
    read: (signal) => api.json('/admin/dashboard', { signal }),
  });
  const health = usePolled<DeepHealth>({
    key: ['health'],
    everySeconds: EVERY_SECONDS,
    read: (signal) => api.json('/admin/health', { signal }),
  });
  const readiness = usePolled<Readiness>({
    key: ['readiness'],
    everySeconds: EVERY_SECONDS,
    read: (signal) => api.json('/readyz', { signal, accepts: [503] }),
  });
  const recent = usePolled<LogPage>({
    key: ['logs', 'recent'],
    everySeconds: EVERY_SECONDS,
    read: (signal) => api.json('/admin/logs?limit=12', { signal }),
  });
  const statistics = usePolled<LogStatistics>({
    key: ['statistics', 'overview', hours],
    everySeconds: EVERY_SECONDS,
    keepsLast: true,
    read: (signal) =>
      api.json(withQuery('/admin/logs/stats', { since: windowStart(hours, api.now()), buckets: 48 }), { signal }),
  });
  const accounts = usePolled<Accounts>({
    key: ['accounts', 'overview'],
    everySeconds: ACCOUNTS_EVERY_SECONDS,
    read: (signal) => api.json(`/admin/accounts?limit=${MOST_ACCOUNTS}`, { signal }),
  });
  const pick = (
    <Segmented
      label="Window"
      value={String(hours)}
      choices={WINDOWS}
      onChange={(window) => setSearch({ window: window === '24' ? undefined : window })}
    />
  );
  return (
    <Page title="Overview" description="What the gateway does right now, and whether it is well." actions={pick}>
      <FailureBanner reading={dashboard} what="The figures" />
      <Contained what="The figures" of={[dashboard.data, statistics.data]}>
        <Figures dashboard={dashboard} statistics={statistics} hours={hours} accounts={accounts.data} />
      </Contained>
      <Panel title="Requests" description={`Over ${windowName(hours)}`}>
        <Loaded reading={statistics} what="Statistics" notConfigured={<LogsDisabled />}>
          {(data) => <Traffic statistics={data} hours={hours} />}
        </Loaded>
      </Panel>
      <Columns>
        <Panel title="Components">
          <Loaded reading={health} what="Health">
            {(data) => <Components health={data} />}
          </Loaded>
        </Panel>
        <Panel title="Readiness">
          <Loaded reading={readiness} what="Readiness">
            {(data) => <ReadinessView readiness={data} health={health.data} />}
          </Loaded>
        </Panel>
      </Columns>
      <Panel title="Recent requests" isFlush actions={<Link href="/logs">All requests</Link>}>
        <Loaded reading={recent} what="Request logs" notConfigured={<LogsDisabled />}>
          {({ data }) => <RecentRequests entries={data.slice(0, 6)} />}
        </Loaded>
      </Panel>
    </Page>
  );
}

function errorTone(rate: number): Tone {
  if (rate >= 0.05) return 'bad';
  return rate >= 0.01 ? 'warn' : 'neutral';
}

function Figures({
  dashboard,
  statistics,
  hours,
  accounts,
}: {
  readonly dashboard: Reading<Dashboard>;
  readonly statistics: Reading<LogStatistics>;
  readonly hours: number;
  readonly accounts: Accounts | undefined;
}) {
  const { providers, keys } = dashboard.data ?? {};
  const summary = statistics.data?.summary;
  const rate = summary && summary.total_entries > 0 ? summary.error_entries / summary.total_entries : undefined;
  const noLogs = isNotConfigured(statistics.error) ? 'Request logging is off' : undefined;
  const isUnwell = providers !== undefined && providers.available < providers.total;
  return (
    <Tiles label="Figures">
      <Tile
        label="Providers"
        icon={Server}
        value={providers ? `${integer(providers.available)} / ${integer(providers.total)}` : DASH}
        note="available"
        tone={isUnwell ? 'warn' : 'neutral'}
      />
      <Tile
        label="Active API Keys"
        icon={KeyRound}
        value={integer(keys?.active)}
        note={
          keys
            ? `${count(keys.total_usage, 'use')}${keys.expired > 0 ? `, ${integer(keys.expired)} expired` : ''}`
            : DASH
        }
      />
      <Tile
        label="Requests"
        icon={Activity}
        value={compact(summary?.total_entries)}
        note={noLogs ?? windowName(hours)}
      />
      <Tile
        label="Error Rate"
        icon={Percent}
        value={percent(rate)}
        note={noLogs ?? (summary ? `${integer(summary.error_entries)} failed` : DASH)}
        tone={rate === undefined ? 'neutral' : errorTone(rate)}
      />
      {accounts && accounts.summary.total > 0 && <BudgetTile accounts={accounts} />}
    </Tiles>
  );
}

/** Budgets of accounts and tags of which little is left. Where no account is there, nothing is said. */
function BudgetTile({ accounts: { data } }: { readonly accounts: Accounts }) {
  const states = data.flatMap(({ budgets = [] }) => budgets.flatMap(({ state }) => state ?? []));
  const nearly = states.filter(({ spent, limit, raised }) => spent > 0 && spent >= NEARLY * (limit + raised)).length;
  return (
    <Tile
      label="Budgets above 80%"
      icon={CircleDollarSign}
      value={integer(nearly)}
      note={<Link href="/accounts">of {count(states.length, 'budget')}</Link>}
      tone={nearly > 0 ? 'warn' : 'neutral'}
    />
  );
}

function Traffic({
  statistics: { summary, series },
  hours,
}: {
  readonly statistics: LogStatistics;
  readonly hours: number;
}) {
  if (summary.total_entries === 0)
    return (
      <Empty icon={Activity} title="No requests yet">
        Nothing came through the gateway over {windowName(hours)}.
      </Empty>
    );
  const said = `${count(summary.total_entries, 'request')} over ${windowName(hours)}, ${integer(summary.error_entries)} of them failed.`;
  return <Bars summary={said} points={chartPoints(series.points)} layers={REQUEST_LAYERS} />;
}
