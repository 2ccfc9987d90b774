import { isZone } from '../../../host/common/budgets/zone.ts';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { quoted } from '../../../host/contract/index.ts';
import type { LogWindow } from '../../../host/stores/log/log-repository.ts';
import type { Query } from '../query.ts';
import { BUCKETS, startsOf } from '../spend/spend-buckets.ts';

const MOST_PARTS = 400;

/** The parts of a series as `bucket` and `timezone` ask for them: hours, days, weeks from Monday or months of a time zone. `undefined` where they do not. */
export function calendarParts(
  query: Query,
  { since, end, buckets }: { readonly since: number | undefined; readonly end: number; readonly buckets: number },
): LogWindow | undefined {
  const bucket = query.oneOf('bucket', BUCKETS);
  const zone = query.text('timezone') || 'UTC';
  if (!bucket) {
    if (query.text('timezone') !== '') throw invalidRequest('timezone goes with bucket alone');
    return undefined;
  }
  if (since === undefined) throw invalidRequest('bucket needs since');
  if (buckets > 0) throw invalidRequest('bucket does not go with buckets; leave one of them out');
  if (!isZone(zone)) throw invalidRequest(`timezone is ${quoted(zone)}; use a name such as Europe/Berlin or UTC`);
  const edges = [since];
  for (const start of startsOf(bucket, { from: since, to: end, zone })) {
    if (start > since) edges.push(start);
    if (edges.length > MOST_PARTS)
      throw invalidRequest(`bucket makes more than ${MOST_PARTS} parts; ask for longer ones`);
  }
  return { start: since, end, buckets: edges.length, edges };
}
