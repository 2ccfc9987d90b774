import { type CivilRule, Windows } from '../../../host/common/budgets/windows.ts';
import { HOUR_MS } from '../../../host/common/once-per.ts';

export const BUCKETS = ['hour', 'day', 'week', 'month'] as const;
export type Bucket = (typeof BUCKETS)[number];

/** A range and its buckets in hours of UTC since 1970: the ledger knows nothing finer. */
export interface SpendHours {
  readonly from: number;
  readonly to: number;
  /** Where buckets begin, ascending; the first begins at `from` or before it. Empty where none were asked for. */
  readonly starts: readonly number[];
  /** Whether an end of the range or the start of a bucket was not on a full hour, and was moved to the hour before. */
  readonly isMoved: boolean;
}

interface Asked {
  readonly from: number;
  readonly to: number;
  readonly bucket: Bucket | undefined;
  readonly zone: string;
  readonly now: number;
}

/** The day of the week, or of the month, on which one begins. */
const FIRST_DAY = { day: 0, week: 1, month: 1 } as const;

/** Cuts a range of moments (Unix milliseconds) into hours. What an hour that still runs has spent was spent before now, and counts. */
export function spendHours({ from, to, bucket, zone, now }: Asked): SpendHours {
  const running = Math.floor(now / HOUR_MS);
  const end = to / HOUR_MS;
  const last = end > running ? Math.ceil(end) : Math.floor(end);
  const first = Math.floor(from / HOUR_MS);
  const moments = bucket === undefined ? [] : startsOf(bucket, { from, to, zone });
  const starts = moments.map((at) => Math.floor(at / HOUR_MS));
  const edges = [from, ...(to < now ? [to] : []), ...moments];
  return { from: first, to: last, starts, isMoved: edges.some((at) => at % HOUR_MS !== 0) };
}

/** Where buckets begin that a range meets, ascending; the first begins at `from` or before it. */
export function startsOf(bucket: Bucket, { from, to, zone }: Pick<Asked, 'from' | 'to' | 'zone'>): readonly number[] {
  if (bucket === 'hour') return hoursOf(from, to, zone);
  const rule: CivilRule = { kind: bucket, zone, at: 0, on: FIRST_DAY[bucket] };
  const windows = new Windows(rule);
  const starts: number[] = [];
  for (let window = windows.at(from); window.beginsAt < to; window = windows.at(window.endsAt))
    starts.push(window.beginsAt);
  return starts;
}

/** Hours of a zone begin off the full hour of UTC where the zone is half an hour, or a quarter, away from it. */
function hoursOf(from: number, to: number, zone: string): readonly number[] {
  const midnight = new Windows({ kind: 'day', zone, at: 0, on: 0 }).at(from).beginsAt;
  const off = midnight % HOUR_MS;
  const starts: number[] = [];
  for (let at = Math.floor((from - off) / HOUR_MS) * HOUR_MS + off; at < to; at += HOUR_MS) starts.push(at);
  return starts;
}
