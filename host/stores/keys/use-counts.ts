import type { Uses } from './key-repository.ts';

/** Uses that were not sent to a store yet, by key. Counting is a look into a table. */
export class UseCounts {
  #pending = new Map<string, { count: number; at: number }>();

  get isEmpty(): boolean {
    return this.#pending.size === 0;
  }

  /** `at` in Unix milliseconds. */
  count(id: string, at: number, uses = 1): void {
    const known = this.#pending.get(id);
    if (!known) this.#pending.set(id, { count: uses, at });
    else {
      known.count += uses;
      if (at > known.at) known.at = at;
    }
  }

  of(id: string): Omit<Uses, 'id'> | undefined {
    return this.#pending.get(id);
  }

  /** Gives all away: it begins anew. */
  take(): readonly Uses[] {
    const taken = Array.from(this.#pending, ([id, { count, at }]) => ({ id, count, at }));
    this.#pending = new Map();
    return taken;
  }
}
