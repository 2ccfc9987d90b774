import { timestamp } from '../../../host/common/timestamps.ts';
import { HOUR_MS } from '../../../host/common/once-per.ts';
import { csvLine, figure } from './csv.ts';
import { SPEND_FIGURES } from './spend-columns.ts';
import type { SpendNames } from './focus.ts';
import { SPEND_FILTERS, type SpendQuery } from './spend-query.ts';
import type { SpendGroup, SpendReport } from './spend-report.ts';
import { usdText } from './usd-text.ts';

/** What a report is shown with. */
export interface ShownReport {
  readonly query: SpendQuery;
  readonly report: SpendReport;
  /** The part of its groups that is shown. */
  readonly groups: readonly SpendGroup[];
  /** First hours of the buckets, since 1970. */
  readonly starts: readonly number[];
  readonly isApproximate: boolean;
  readonly names: Pick<SpendNames, 'keyName'>;
}

const usd = (micro: number): number => micro / 1e6;

/** A report as JSON. See docs/admin.md#spend. */
export function spendBody({ query, report, groups, starts, isApproximate, names }: ShownReport): object {
  const { requests, microUsd, untaggedMicroUsd } = report;
  return {
    data: groups.map((group) => ({ ...nameMembers(group, { query, starts, names }), ...figureMembers(group) })),
    summary: {
      requests,
      usd: usd(microUsd),
      micro_usd: microUsd,
      groups: report.groups.length,
      returned: groups.length,
      ...(query.by.includes('tag') && { untagged_usd: usd(untaggedMicroUsd) }),
      ...(isApproximate && { is_approximate: true }),
    },
    filters: filtersOf(query),
  };
}

/** A report as a table. */
export function* spendLines({ query, groups, starts, names }: ShownReport): Generator<string> {
  const { by, bucket } = query;
  yield csvLine([
    ...(bucket ? ['bucket'] : []),
    ...by.flatMap((word) => (word === 'key' ? ['key', 'key_name'] : [word])),
    ...SPEND_FIGURES.filter((name) => name !== 'micro_usd'),
    'usd',
    'micro_usd',
    'estimated_usd',
    'reported_usd',
  ]);
  for (const group of groups) {
    const { micro_usd: micro, estimated, reported, ...figures } = group.figures;
    yield csvLine([
      ...Object.values(nameMembers(group, { query, starts, names })),
      ...SPEND_FIGURES.flatMap((name) => (name === 'micro_usd' ? [] : [figure(figures[name])])),
      ...[usdText(micro), micro, usdText(estimated), usdText(reported)].map(figure),
    ]);
  }
}

function nameMembers(
  { bucket, names: values }: SpendGroup,
  { query, starts, names }: Pick<ShownReport, 'query' | 'starts' | 'names'>,
): Readonly<Record<string, string>> {
  return Object.fromEntries([
    ...(query.bucket ? [['bucket', timestamp((starts[bucket] ?? 0) * HOUR_MS)]] : []),
    ...query.by.flatMap((word, at) => {
      const value = values[at] ?? '';
      return word === 'key'
        ? [
            ['key', value],
            ['key_name', names.keyName(value)],
          ]
        : [[word, value]];
    }),
  ]);
}

function figureMembers({ figures: { micro_usd: micro, estimated, reported, ...figures } }: SpendGroup): object {
  return {
    ...figures,
    usd: usd(micro),
    micro_usd: micro,
    estimated_usd: usd(estimated),
    reported_usd: usd(reported),
  };
}

/** What was asked for; a filter for what is empty stands as it was written. */
function filtersOf({ from, to, by, depth, bucket, zone, filters, sort, limit, offset }: SpendQuery): object {
  const given = SPEND_FILTERS.flatMap((name) => {
    const value = filters[name];
    return value === undefined ? [] : [[name, value || 'none']];
  });
  return {
    from: timestamp(from),
    to: timestamp(to),
    by,
    ...(depth !== undefined && { depth }),
    ...(bucket && { bucket }),
    timezone: zone,
    ...Object.fromEntries(given),
    sort,
    limit,
    offset,
  };
}
