import type { Spend } from '../../api/answers.ts';
import { usePolled } from '../../api/polling.ts';
import { withQuery } from '../../lib/query-string.ts';
import { useSearch } from '../../lib/use-search.ts';
import { useApi } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { Filters, Segmented } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { Loaded } from '../../ui/states.tsx';
import { Downloads } from './downloads.tsx';
import { Ranking, SpendChart, SpendTiles } from './parts.tsx';
import { rangeName, rangeOf, RANGES, zoneName, ZONES } from './ranges.ts';
import { type Dimension, DIMENSIONS, dimensionOf } from './spend-series.ts';

const EVERY_SECONDS = 60;
const ROUTE = '/admin/spend';
/** Bars of a month, with more names than are drawn apart. */
const MOST_BARS = 1000;
const RANKED = 12;

/** What a page shows at once. */
interface Report {
  readonly days: Spend;
  readonly names: Spend;
  readonly total: Spend;
  readonly before: Spend;
}

export default function SpendPage() {
  const api = useApi();
  const [search, setSearch] = useSearch();
  const range = rangeName(search.get('range'));
  const zone = zoneName(search.get('zone'));
  const by = dimensionOf(search.get('by'));
  const filters = Object.fromEntries(DIMENSIONS.map(({ value }) => [value, search.get(value) ?? '']));
  const reading = usePolled<Report>({
    key: ['spend', range, zone, by, filters],
    everySeconds: EVERY_SECONDS,
    keepsLast: true,
    read: async (signal) => {
      const { from, to, before } = rangeOf(range, zone === 'UTC' ? 'UTC' : 'local', api.now());
      const ask = (members: Parameters<typeof withQuery>[1]): Promise<Spend> =>
        api.json(withQuery(ROUTE, { timezone: zone, ...filters, ...members }), { signal });
      const [days, names, total, earlier] = await Promise.all([
        ask({ by, bucket: 'day', from: iso(from), to: iso(to), limit: MOST_BARS }),
        ask({ by, from: iso(from), to: iso(to), limit: RANKED }),
        ask({ from: iso(from), to: iso(to) }),
        ask({ from: iso(before), to: iso(from) }),
      ]);
      return { days, names, total, before: earlier };
    },
  });
  const file = (format: string): string => {
    const { from, to } = rangeOf(range, zone === 'UTC' ? 'UTC' : 'local', api.now());
    const parts = format === 'csv' ? { by, bucket: 'day' } : {};
    return withQuery(ROUTE, { timezone: zone, ...filters, ...parts, from: iso(from), to: iso(to), format });
  };
  return (
    <Page
      title="Spend"
      description="What requests have cost, by the prices at which they were booked."
      actions={
        <>
          <Segmented
            label="Range"
            value={range}
            choices={RANGES}
            onChange={(value) => setSearch({ range: value === 'month' ? undefined : value })}
          />
          <Segmented
            label="Time zone"
            value={zone === 'UTC' ? 'UTC' : 'local'}
            choices={ZONES}
            onChange={(value) => setSearch({ zone: value === 'UTC' ? undefined : value })}
          />
          <Downloads csv={() => file('csv')} focus={() => file('focus')} />
        </>
      }
    >
      <Filters label="Show by">
        <Segmented
          label="Show by"
          value={by}
          choices={DIMENSIONS}
          onChange={(value) => setSearch({ by: value === 'model' ? undefined : value })}
        />
        <Chosen filters={filters} onClear={(name) => setSearch({ [name]: undefined })} />
      </Filters>
      <Loaded reading={reading} what="Spend" notConfigured={<p>Spend is off (GW_SPEND).</p>}>
        {({ days, names, total, before }) => (
          <>
            <SpendTiles
              total={total}
              before={before}
              range={rangeOf(range, zone === 'UTC' ? 'UTC' : 'local', api.now())}
            />
            <SpendChart days={days} by={by} zone={zone} />
            <Ranking names={names} by={by} onChoose={(name) => setSearch({ [by]: name === '' ? 'none' : name })} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

const iso = (at: number): string => new Date(at).toISOString();

/** What the report is narrowed to, each with a button that takes it away. */
function Chosen({
  filters,
  onClear,
}: {
  readonly filters: Readonly<Record<string, string>>;
  readonly onClear: (name: Dimension) => void;
}) {
  return DIMENSIONS.filter(({ value }) => filters[value]).map(({ value }) => (
    <Button key={value} size="small" aria-label={`Take the filter ${value} away`} onClick={() => onClear(value)}>
      {value}: {filters[value]} ×
    </Button>
  ));
}
