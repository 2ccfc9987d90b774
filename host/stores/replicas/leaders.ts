/** Work that one of several processes does for all: on the request log, on keys and sessions, on the configuration. */
export type JobFamily = 'log' | 'keys' | 'config';

/**
 * Which families of jobs this process does. Of a store that is its own it does all. Of a shared one the process does that holds the
 * lease of the family: ask before each slice of the work, because the lease may have gone to another. Work that two processes did at once must do no harm.
 */
export class Leaders {
  readonly #shared = new Map<JobFamily, () => boolean>();
  #isSealed = false;

  /** Who opened a shared store says so, in `open`. */
  supply(family: JobFamily, isLeader: () => boolean): void {
    if (this.#isSealed) throw new Error(`leaders: ${family} is supplied too late, stores are supplied in open`);
    this.#shared.set(family, isLeader);
  }

  isLeader(family: JobFamily): boolean {
    return this.#shared.get(family)?.() ?? true;
  }

  seal(): void {
    this.#isSealed = true;
  }
}
