const DAY_MS = 86_400_000;

export const RANGES = [
  { value: 'month', label: 'This month' },
  { value: 'last', label: 'Last month' },
  { value: '7', label: '7 d' },
  { value: '30', label: '30 d' },
] as const;
export type RangeName = (typeof RANGES)[number]['value'];

export const ZONES = [
  { value: 'UTC', label: 'UTC' },
  { value: 'local', label: 'My zone' },
] as const;

/** A range of moments in Unix milliseconds, and the one of the same length before it. */
export interface Range {
  readonly from: number;
  readonly to: number;
  readonly before: number;
  /** When a range that still runs will be over; `undefined` for one that has ended, or has no end of its own. */
  readonly ends: number | undefined;
}

/** What an address names; this month when it names none of these. */
export const rangeName = (value: string | null): RangeName =>
  RANGES.find((one) => one.value === value)?.value ?? 'month';

export const zoneName = (value: string | null): string =>
  value === 'local' ? new Intl.DateTimeFormat().resolvedOptions().timeZone : 'UTC';

export function rangeOf(name: RangeName, zone: 'UTC' | 'local', now: number): Range {
  if (name === '7' || name === '30') {
    const length = Number(name) * DAY_MS;
    return { from: now - length, to: now, before: now - 2 * length, ends: undefined };
  }
  const begins = monthOf(zone, now, 0);
  const last = monthOf(zone, now, -1);
  if (name === 'month') return { from: begins, to: now, before: begins - (now - begins), ends: monthOf(zone, now, 1) };
  return { from: last, to: begins, before: monthOf(zone, now, -2), ends: undefined };
}

/** The start of a month, so many after the one that runs. */
function monthOf(zone: 'UTC' | 'local', now: number, ahead: number): number {
  const date = new Date(now);
  if (zone === 'UTC') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + ahead, 1);
  return new Date(date.getFullYear(), date.getMonth() + ahead, 1).getTime();
}

/** Share of a range that has to be over before its end is guessed. */
const LEAST_SHARE = 0.1;

/** What the whole range may come to, if it goes on as it began; `undefined` where that says too little. */
export function forecast(usd: number, { from, to, ends }: Range): number | undefined {
  if (ends === undefined) return undefined;
  const share = (to - from) / (ends - from);
  return share < LEAST_SHARE ? undefined : usd / share;
}
