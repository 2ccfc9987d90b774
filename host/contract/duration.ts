const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gy;

/**
 * A pattern for a whole text that is a duration, in the dialect of JSON Schema. For the schema of a
 * setting, so that editors and the dashboard refuse a wrong one as it is typed. It takes what
 * `parseDuration` takes, and nothing else.
 */
export const DURATION_PATTERN = `^[+-]?(0|(${PART.source})+)$`;

/**
 * Milliseconds of a duration such as `30s`, `1h30m`, `1.5s` or `0`: an optional sign, then one or
 * more decimal-and-unit pairs. `undefined` when the text is anything else. See
 * docs/configuration.md#the-document. Units are `ns`, `us` (also with the Greek letter), `ms`, `s`,
 * `m` and `h`, in small letters and in any order; pairs are added up. A number without a unit is
 * refused, except `0`, because one cannot see whether it means seconds or milliseconds. So are
 * blanks, an exponent and an empty text.
 *
 * @param text what an operator wrote.
 * @returns milliseconds, with a fraction for units below one; less than 0 behind a minus sign. A
 * setting that must not be negative checks that itself.
 * @example
 * ```ts
 * import { parseDuration } from 'gw/contract';
 *
 * export const halfAnHour = parseDuration('30m'); // 1,800,000
 * export const unitless = parseDuration('30'); // undefined
 * ```
 */
export function parseDuration(text: string): number | undefined {
  const sign = text.startsWith('-') ? -1 : 1;
  const rest = text.replace(/^[+-]/, '');
  if (rest === '0') return 0;
  let total = 0;
  let end = 0;
  for (const part of rest.matchAll(PART)) {
    total += Number(part[1]) * (UNIT_MS[part[2] ?? ''] ?? Number.NaN);
    end = part.index + part[0].length;
  }
  return rest !== '' && end === rest.length ? sign * total : undefined;
}
