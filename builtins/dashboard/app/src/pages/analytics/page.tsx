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
        withQuery('/admin/logs/stats', { since: windowStart(hours, api.now()), buckets: 48, limit: 10, ...filters }),
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
            isOneStage={filters.stage !== '' && filters.stage !== 'all'}
          />
        )}
      </Loaded>
    </Page>
  );
}

interface StatisticsProps {
  readonly statistics: LogStatistics;
  readonly hours: number;
  /** Rows of one stage say nothing about how many requests failed. */
  readonly isOneStage: boolean;
}

function Statistics({ statistics, hours, isOneStage }: StatisticsProps) {
  const { summary, series } = statistics;
  const rate = isOneStage || summary.total_entries === 0 ? undefined : summary.error_entries / summary.total_entries;
  const said = `${count(summary.total_entries, 'request')} over ${windowName(hours)}${rate === undefined ? '' : `, ${percent(rate)} failed`}, ${costPhrase(summary)}.`;
  const points = chartPoints(series.points);
  return (
    <>
      <p className="visually-hidden" role="status">
        {said}
      </p>
      <Totals summary={summary} rate={rate} />
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

function Totals({ summary, rate }: { readonly summary: LogStatistics['summary']; readonly rate: number | undefined }) {
  const { total_entries, error_entries, prompt_tokens, completion_tokens, unpriced_requests } = summary;
  const sums = sumsOf(summary);
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
      <Tile label="Input tokens" value={compact(prompt_tokens)} />
      <Tile label="Output tokens" value={compact(completion_tokens)} />
      <Tile label="Estimated cost" value={costText(sums)} note={isUnpriced(sums) ? 'no price is known' : partly} />
    </Tiles>
  );
}
