import type { Attempt } from './attempt.ts';

/**
 * What one tap remembers of an attempt from `admit` to `settled`: a field of the attempt. A map of attempts would hold
 * every one of them for the collector to look at.
 */
export class AttemptNote<T> {
  readonly #key = Symbol('note');

  put(attempt: Attempt, value: T): void {
    attempt[this.#key] = value;
  }

  /** Reads it once: a second look finds nothing. */
  take(attempt: Attempt): T | undefined {
    const value = attempt[this.#key] as T | undefined;
    if (value !== undefined) attempt[this.#key] = undefined;
    return value;
  }
}
