import type { SeriesPoint } from '../api/wire.ts';
import { DASH } from '../lib/format.ts';

/** What a chart draws over one label: an amount for each layer. */
export type Point = { readonly label: string } & Readonly<Record<string, number | string>>;

export type ChartPoint = {
  readonly label: string;
  readonly ok: number;
  readonly failed: number;
  readonly input: number;
  readonly output: number;
};

const DAY_MS = 86_400_000;

/** Points as they are drawn; windows longer than a day name the day too. */
export function chartPoints(points: readonly SeriesPoint[]): ChartPoint[] {
  const [first, last] = [points[0], points.at(-1)];
  const spansDays =
    first !== undefined && last !== undefined && Date.parse(last.start) - Date.parse(first.start) > DAY_MS;
  const format = new Intl.DateTimeFormat(
    'en-GB',
    spansDays
      ? { day: '2-digit', month: 'short', hour: '2-digit', minute: '2-digit' }
      : { hour: '2-digit', minute: '2-digit' },
  );
  return points.map(({ start, requests, errors, prompt_tokens, completion_tokens }) => ({
    label: Number.isNaN(Date.parse(start)) ? DASH : format.format(new Date(start)),
    ok: Math.max(0, requests - errors),
    failed: errors,
    input: prompt_tokens,
    output: completion_tokens,
  }));
}
