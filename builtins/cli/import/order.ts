/** Most calls that a target may serve at a time. */
export const MAX_CONCURRENCY = 10_000;

/** One target is wanted before another. */
export interface Precedence {
  readonly first: string;
  readonly then: string;
}

/** The names in their order, changed no more than the wishes ask for; `undefined` when these contradict each other. */
export function orderOf(names: readonly string[], wanted: readonly Precedence[]): string[] | undefined {
  const ordered: string[] = [];
  const waiting = new Set(names);
  while (waiting.size > 0) {
    const next = [...waiting].find(
      (name) => !wanted.some(({ first, then }) => then === name && first !== name && waiting.has(first)),
    );
    if (next === undefined) return undefined;
    ordered.push(next);
    waiting.delete(next);
  }
  return ordered;
}

/** Seconds or milliseconds as a duration that the configuration takes; `undefined` for what is not above zero. */
export function durationText(ms: number | undefined): string | undefined {
  if (ms === undefined || !(ms >= 1)) return undefined;
  const whole = Math.round(ms);
  return whole % 1000 === 0 ? `${whole / 1000}s` : `${whole}ms`;
}
