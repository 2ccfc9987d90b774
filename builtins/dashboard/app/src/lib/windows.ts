const HOUR_MS = 3_600_000;

/** Windows of time that end now, by their hours. */
export const WINDOWS: readonly { readonly value: string; readonly label: string }[] = [
  { value: '1', label: '1 h' },
  { value: '6', label: '6 h' },
  { value: '24', label: '24 h' },
  { value: '168', label: '7 d' },
  { value: '720', label: '30 d' },
];

const NAMES: Readonly<Record<string, string>> = {
  '1': 'the last hour',
  '6': 'the last 6 hours',
  '24': 'the last 24 hours',
  '168': 'the last 7 days',
  '720': 'the last 30 days',
};

/** Hours of the window that an address names; a day when it names none of these. */
export function windowHours(value: string | null): number {
  return WINDOWS.some((choice) => choice.value === value) ? Number(value) : 24;
}

export function windowName(hours: number): string {
  return NAMES[String(hours)] ?? `the last ${hours} hours`;
}

/** Where the window begins, as the gateway reads it. */
export function windowStart(hours: number, now: number): string {
  return new Date(now - hours * HOUR_MS).toISOString();
}
