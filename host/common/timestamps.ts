/** The digits of a fraction have no bound in RFC 3339; texts that are kept do. */
const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d{1,100})?(?:Z|[+-](\d{2}):(\d{2}))$/;
/** The first and the last moment that have a year of four digits in UTC. */
const EARLIEST = Date.parse('0000-01-01T00:00:00Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

/** Unix milliseconds of an RFC 3339 timestamp with an offset, `T` and `Z` in upper case; `undefined` for anything else. */
export function parseTimestamp(text: string): number | undefined {
  const [, year, month, day, hour, minute, second, offsetHour = '0', offsetMinute = '0'] = RFC_3339.exec(text) ?? [];
  if (
    Number(hour) > 23 ||
    Number(minute) > 59 ||
    Number(second) > 59 ||
    Number(offsetHour) > 23 ||
    Number(offsetMinute) > 59
  )
    return undefined;
  if (year === undefined || !isDay(Number(year), Number(month), Number(day))) return undefined;
  const at = Date.parse(text.replace(/\.(\d{1,3})\d*/, '.$1'));
  return at >= EARLIEST && at <= LATEST ? at : undefined;
}

function isDay(year: number, month: number, day: number): boolean {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
  return day >= 1 && day <= days;
}

/** RFC 3339 in UTC; milliseconds where there are some. */
export function timestamp(at: number): string {
  return new Date(at).toISOString().replace('.000Z', 'Z');
}
