import type { Spend } from '../../api/answers.ts';
import type { Layer } from '../../charts/layers.ts';
import type { Point } from '../../charts/series.ts';

export type SpendEntry = Spend['data'][number];

export const DIMENSIONS = [
  { value: 'account', label: 'Accounts' },
  { value: 'key', label: 'Keys' },
  { value: 'model', label: 'Models' },
  { value: 'provider', label: 'Providers' },
  { value: 'tag', label: 'Tags' },
] as const;
export type Dimension = (typeof DIMENSIONS)[number]['value'];

export const dimensionOf = (value: string | null): Dimension =>
  DIMENSIONS.find((one) => one.value === value)?.value ?? 'model';

/** Names that have a layer of their own. */
const LAYERS = 8;
const OTHER = 'other';

/** What an entry stands for, as people call it. */
export function nameOf(entry: SpendEntry, dimension: Dimension): string {
  const name = entry[dimension] ?? '';
  if (dimension === 'key' && entry.key_name) return entry.key_name;
  return name === '' ? 'none' : name;
}

export interface SpendSeries {
  readonly layers: readonly Layer[];
  readonly points: readonly Point[];
}

/** Bars of days: the names that cost most have a layer each, the others one together. */
export function seriesOf(
  entries: readonly SpendEntry[],
  dimension: Dimension,
  label: (bucket: string) => string,
): SpendSeries {
  const totals = new Map<string, number>();
  for (const entry of entries) {
    const name = entry[dimension] ?? '';
    totals.set(name, (totals.get(name) ?? 0) + entry.micro_usd);
  }
  const top = [...totals].toSorted(([, a], [, b]) => b - a).slice(0, LAYERS);
  const members = new Map(top.map(([name], at) => [name, `layer${at}`]));
  const shown = new Map(entries.map((entry) => [entry[dimension] ?? '', nameOf(entry, dimension)]));
  const layers = top.map(([name], at) => ({
    member: `layer${at}`,
    name: shown.get(name) ?? name,
    color: `var(--chart-${at + 1})`,
  }));
  const points = Array.from(
    Map.groupBy(entries, ({ bucket = '' }) => bucket),
    ([bucket, group]): Point => {
      const micro = new Map<string, number>();
      for (const entry of group) {
        const member = members.get(entry[dimension] ?? '') ?? OTHER;
        micro.set(member, (micro.get(member) ?? 0) + entry.micro_usd);
      }
      const amounts = Array.from(micro, ([member, amount]) => [member, amount / 1e6]);
      return { ...Object.fromEntries(amounts), label: label(bucket) } as Point;
    },
  );
  const hasOther = totals.size > LAYERS;
  return { layers: hasOther ? [...layers, OTHER_LAYER] : layers, points };
}

const OTHER_LAYER: Layer = { member: OTHER, name: 'Other', color: 'var(--chart-other)' };

/** The day on which a bucket begins, in a zone. One that was moved to the full hour before is of the day after. */
export function dayLabel(zone: string): (bucket: string) => string {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, day: '2-digit', month: 'short' });
  return (bucket) => {
    const at = Date.parse(bucket);
    return Number.isNaN(at) ? bucket : format.format(at + 59 * 60_000);
  };
}
