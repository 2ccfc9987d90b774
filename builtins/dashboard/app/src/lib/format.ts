/** Figures as they are shown. What is not known is a dash. */
export const DASH = '–';

type Figure = number | null | undefined;

const INTEGER = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });

const isMissing = (value: Figure): value is null | undefined =>
  value === null || value === undefined || !Number.isFinite(value);

export function integer(value: Figure): string {
  return isMissing(value) ? DASH : INTEGER.format(value);
}

/** `12,345` below a hundred thousand, then `123.5K`. */
export function compact(value: Figure): string {
  if (isMissing(value)) return DASH;
  return Math.abs(value) < 100_000 ? INTEGER.format(value) : COMPACT.format(value);
}

/** US dollars; small amounts keep two significant digits, so that a request that costs something never shows as nothing. */
export function usd(value: Figure): string {
  if (isMissing(value)) return DASH;
  if (value === 0) return '$0';
  if (Math.abs(value) >= 0.01)
    return `$${value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  return `$${value.toLocaleString('en-US', { minimumSignificantDigits: 2, maximumSignificantDigits: 2 })}`;
}

/** Milliseconds, in seconds from one second on. */
export function duration(milliseconds: Figure): string {
  if (isMissing(milliseconds)) return DASH;
  if (milliseconds >= 10_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(2)} s`;
  return milliseconds >= 10 ? `${Math.round(milliseconds)} ms` : `${Number(milliseconds.toPrecision(2))} ms`;
}

/** A share of 1 as a percentage. */
export function percent(share: Figure): string {
  if (isMissing(share)) return DASH;
  const value = share * 100;
  if (value === 0 || value === 100) return `${value}%`;
  return `${value.toFixed(value < 1 ? 2 : 1)}%`;
}

/** `1 key`, `3 keys`. */
export function count(value: Figure, one: string, many = `${one}s`): string {
  return `${integer(value)} ${value === 1 ? one : many}`;
}

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];
const RELATIVE = new Intl.RelativeTimeFormat('en-US', { numeric: 'auto', style: 'short' });

/** How long ago, or how long until; `just now` below ten seconds either way. */
export function relativeTime(at: number, now: number): string {
  const apart = at - now;
  if (Math.abs(apart) < 10_000) return 'just now';
  for (const [unit, size] of UNITS) if (Math.abs(apart) >= size) return RELATIVE.format(Math.trunc(apart / size), unit);
  return RELATIVE.format(Math.trunc(apart / 1000), 'second');
}

/** Date and time in the reader's zone. */
export function absoluteTime(at: number): string {
  if (Number.isNaN(at)) return DASH;
  return new Date(at).toLocaleString('en-GB', {
    year: 'numeric',
    month: 'short',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
}
