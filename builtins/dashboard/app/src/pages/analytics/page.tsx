import { Activity } from 'lucide-react';
import { usePolled } from '../../api/polling.ts';
import type { LogStatistics } from '../../api/wire.ts';
import { Bars } from '../../charts/bars.tsx';
import { REQUEST_LAYERS, TOKEN_LAYERS } from '../../charts/layers.ts';
import { chartPoints } from '../../charts/series.ts';
import { compact, count, DASH, integer, percent } from '../../lib/format.ts';
import { namesIn } from '../../lib/fields.ts';
import { withQuery } from '../../lib/query-string.ts';
import { STAGES, stageName } from '../../lib/stages.ts';
import { useNow } from '../../lib/use-now.ts';
import { useSearch } from '../../lib/use-search.ts';
import { windowHours, windowName, WINDOWS, windowStart } from '../../lib/windows.ts';
import { useApi } from '../../services.ts';
import { FilterField } from '../../ui/filter-field.tsx';
import { Filters, Segmented, SelectField } from '../../ui/form.tsx';
import { LogsDisabled } from '../../ui/logs-disabled.tsx';
import { Page } from '../../ui/page.tsx';
import { Columns, Panel } from '../../ui/panel.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { Tile, Tiles } from '../../ui/tile.tsx';
import { keyNameOf } from '../logs/key-names.ts';
import { useKeysOf } from '../logs/use-keys.ts';
import { Outcomes, Shares } from './outcomes.tsx';
import { costText, Failures, isUnpriced, Latency, Models, Providers } from './parts.tsx';

export default function AnalyticsPage() {
  const api = useApi();
  const [search, setSearch] = useSearch();
  const hours = windowHours(search.get('window'));
  const filters = {
    provider: search.get('provider') ?? '',
    model: search.get('model') ?? '',
    stage: search.get('stage') ?? '',
  };
  const reading = usePolled<LogStatistics>({
    key: ['statistics', 'analytics', hours, filters],
    everySeconds: 60,
    keepsLast: true,
    read: (signal) =>
      api.json(
        withQuery('/admin/logs/stats', {
          since: windowStart(hours, api.now()),
          buckets: 48,
          limit: 10,
          include: 'by_outcome,by_code,by_key,by_target',
          ...filters,
        }),
        { signal },
      ),
  });
  return (
    <Page
      title="Analytics"
      description="Traffic, speed and cost of what the gateway recorded."
      actions={
        <Segmented
          label="Window"
          value={String(hours)}
          choices={WINDOWS}
          onChange={(window) => setSearch({ window: window === '24' ? undefined : window })}
        />
      }
    >
      <Filters label="Filters">
        <FilterField
          label="Provider"
          placeholder="All providers"
          value={filters.provider}
          suggestions={namesIn(reading.data?.by_provider)}
          onChange={(provider) => setSearch({ provider })}
        />
        <FilterField
          label="Model"
          placeholder="All models"
          value={filters.model}
          suggestions={namesIn(reading.data?.by_model)}
          onChange={(model) => setSearch({ model })}
        />
        <SelectField label="Stage" value={filters.stage} onChange={(event) => setSearch({ stage: event.target.value })}>
          <option value="">Requests</option>
          {STAGES.map((stage) => (
            <option key={stage} value={stage}>
              {stageName(stage)}
            </option>
          ))}
          <option value="all">All stages</option>
        </SelectField>
      </Filters>
      <Loaded reading={reading} what="Statistics" notConfigured={<LogsDisabled />}>
        {(statistics) => (
          <Statistics
            statistics={statistics}
            hours={hours}
            filters={filters}
            isOneStage={filters.stage !== '' && filters.stage !== 'all'}
          />
        )}
      </Loaded>
    </Page>
  );
}

/** How the statistics call what a row does not say. */
const UNKNOWN = 'unknown';

interface StatisticsProps {
  readonly statistics: LogStatistics;
  readonly hours: number;
  readonly filters: { readonly provider: string; readonly model: string };
  /** Rows of one stage say nothing about how many requests failed. */
  readonly isOneStage: boolean;
}

function Statistics({ statistics, hours, filters, isOneStage }: StatisticsProps) {
  const now = useNow();
  const keys = useKeysOf(Object.keys(statistics.by_key ?? {}).filter((id) => id !== UNKNOWN));

  const { summary, series } = statistics;
  const rate = isOneStage || summary.total_entries === 0 ? undefined : summary.error_entries / summary.total_entries;
  const said = `${count(summary.total_entries, 'request')} over ${windowName(hours)}${rate === undefined ? '' : `, ${percent(rate)} failed`}, ${costPhrase(summary)}.`;
  const points = chartPoints(series.points);
  return (
    <>
      <p className="visually-hidden" role="status">
        {said}
      </p>
      <Totals summary={summary} rate={rate} byOutcome={statistics.by_outcome} />
      {summary.total_entries === 0 ? (
        <Panel title="Traffic">
          <Empty icon={Activity} title="No traffic">
            Nothing that fits these filters was recorded over {windowName(hours)}.
          </Empty>
        </Panel>
      ) : (
        <>
          <Columns>
            <Panel title="Traffic">
              <Bars summary={said} points={points} layers={REQUEST_LAYERS} />
            </Panel>
            <Panel title="Tokens">
              <Bars
                summary={`${compact(summary.prompt_tokens)} input and ${compact(summary.completion_tokens)} output tokens over ${windowName(hours)}.`}
                points={points}
                layers={TOKEN_LAYERS}
              />
            </Panel>
          </Columns>
          <Latency latency={statistics.latency_ms} ttft={statistics.ttft_ms} />
          <Columns>
            <Models byModel={statistics.by_model} />
            <Providers byProvider={statistics.by_provider} />
          </Columns>
          <Outcomes statistics={statistics} hours={hours} provider={filters.provider} model={filters.model} />
          <Columns>
            <Shares
              title="Keys"
              shares={statistics.by_key}
              nameOf={(id) => (id === UNKNOWN ? 'No API key' : keyNameOf(id, keys, now).name)}
            />
            <Shares
              title="Targets"
              shares={statistics.by_target}
              nameOf={(name) => (name === UNKNOWN ? 'None' : name)}
            />
          </Columns>
          <Failures errors={statistics.top_errors} />
        </>
      )}
    </>
  );
}

type Summary = LogStatistics['summary'];

const sumsOf = ({ total_entries, error_entries, unpriced_requests, cost_usd }: Summary) => ({
  count: total_entries,
  errors: error_entries,
  unpriced: unpriced_requests,
  cost_usd,
});

/** What it cost, as part of a sentence. */
function costPhrase(summary: Summary): string {
  const sums = sumsOf(summary);
  if (isUnpriced(sums)) return 'at no known price';
  return sums.unpriced > 0 ? `${costText(sums)} at least` : costText(sums);
}

interface TotalsProps {
  readonly summary: Summary;
  readonly rate: number | undefined;
  readonly byOutcome: LogStatistics['by_outcome'];
}

function Totals({ summary, rate, byOutcome = {} }: TotalsProps) {
  const { total_entries, error_entries, prompt_tokens, completion_tokens, unpriced_requests } = summary;
  const sums = sumsOf(summary);
  const of = (...outcomes: readonly string[]): number =>
    outcomes.reduce((sum, outcome) => sum + (byOutcome[outcome] ?? 0), 0);
  const [broken, refused] = [of('provider', 'gateway'), of('policy', 'budget', 'rate')];
  const partly =
    unpriced_requests > 0 ? `at least; ${count(unpriced_requests, 'request')} without a known price` : 'estimated';
  return (
    <Tiles label="Totals">
      <Tile label="Requests" value={compact(total_entries)} />
      <Tile
        label="Failure rate"
        value={rate === undefined ? DASH : percent(rate)}
        note={rate === undefined ? undefined : `${integer(error_entries)} failed`}
      />
      <Tile
        label="Provider and gateway"
        value={total_entries === 0 ? DASH : percent(broken / total_entries)}
        note={`${integer(broken)} failed, ${integer(refused)} refused`}
      />
      <Tile label="Input tokens" value={compact(prompt_tokens)} />
      <Tile label="Output tokens" value={compact(completion_tokens)} />
      <Tile label="Estimated cost" value={costText(sums)} note={isUnpriced(sums) ? 'no price is known' : partly} />
    </Tiles>
  );
}
