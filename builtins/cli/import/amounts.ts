/** Most calls that a target, or a credential, may serve at a time. */
export const MAX_CONCURRENCY = 10_000;

/** Milliseconds as a duration that the configuration takes; `undefined` for what is not above zero. */
export function durationText(ms: number | undefined): string | undefined {
  if (ms === undefined || !(ms >= 1)) return undefined;
  const whole = Math.round(ms);
  return whole % 1000 === 0 ? `${whole / 1000}s` : `${whole}ms`;
}

/** Without the noise of sums and products of fractions. */
export const rounded = (number: number): number => Math.round(number * 1e6) / 1e6;

/** Whether a number may be the calls in flight. */
export const isCalls = (calls: number | undefined): calls is number =>
  Number.isInteger(calls) && (calls ?? 0) >= 1 && (calls ?? 0) <= MAX_CONCURRENCY;
