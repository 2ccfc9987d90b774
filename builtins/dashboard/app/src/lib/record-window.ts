/** Windows of time that lists can be narrowed to, by their name in the address. */
export const WINDOWS: readonly (readonly [name: string, label: string, milliseconds: number])[] = [
  ['1h', 'Last hour', 3_600_000],
  ['6h', 'Last 6 hours', 21_600_000],
  ['24h', 'Last 24 hours', 86_400_000],
  ['7d', 'Last 7 days', 604_800_000],
  ['30d', 'Last 30 days', 2_592_000_000],
];

/** When a window begins; nothing for all time, and for a name that is not known. */
export function sinceOf(name: string, now: number): string | undefined {
  const found = WINDOWS.find(([each]) => each === name);
  return found && new Date(now - found[2]).toISOString();
}
