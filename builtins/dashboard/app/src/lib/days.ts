/** A day as date fields write it, where the reader is. */
export function dayText(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** The day so many days before. */
export function dayBefore(date: Date, days: number): string {
  return dayText(new Date(date.getFullYear(), date.getMonth(), date.getDate() - days));
}

/** When a day begins where the reader is, as the gateway reads moments; `undefined` for what is not a day. */
export function midnightOf(day: string): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? [];
  if (year === undefined) return undefined;
  const midnight = new Date(Number(year), Number(month) - 1, Number(date));
  return Number.isNaN(midnight.getTime()) ? undefined : midnight.toISOString();
}
