import { GatewayError } from '../../host/contract/index.ts';
import type { Level } from '../../host/common/accounts/level.ts';
import { Windows } from '../../host/common/budgets/windows.ts';

/** Values of one pattern that have budgets in a window. */
const MOST_VALUES = 1000;

interface Seen {
  readonly values: Set<string>;
  /** Unix milliseconds at which the shortest of its windows ends. */
  readonly until: number;
}

/** The values of patterns of tags: each has budgets of its own, and so there is a bound. */
export class PatternValues {
  readonly #seen = new Map<string, Seen>();

  /** Counts the values of a request, and says which pattern has too many. */
  take(levels: readonly Level[], now: number): GatewayError | undefined {
    for (const { path, pattern, budgets } of levels) {
      if (pattern === undefined || budgets.length === 0) continue;
      const { values } = this.#of(pattern, budgets, now);
      if (!values.has(path) && values.size >= MOST_VALUES)
        return new GatewayError('invalid_request', `the tag ${pattern} has its ${MOST_VALUES} values`);
      values.add(path);
    }
    return undefined;
  }

  #of(pattern: string, budgets: Level['budgets'], now: number): Seen {
    const known = this.#seen.get(pattern);
    if (known && now < known.until) return known;
    const ends = budgets.map(({ rule }) => new Windows(rule).at(now).endsAt);
    const until = ends.reduce((least, end) => Math.min(least, end), Number.POSITIVE_INFINITY);
    const made = { values: new Set<string>(), until };
    this.#seen.set(pattern, made);
    return made;
  }
}
