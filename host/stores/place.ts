/**
 * A place for one thing that a builtin brings while the host opens. Without one the default stands. What was built before
 * would not see a later one, so the place is sealed once everything is open.
 */
export class Place<T> {
  readonly #what: string;
  #backend: string;
  #value: T;
  #isTaken = false;
  #isSealed = false;

  constructor(what: string, backend: string, value: T) {
    this.#what = what;
    this.#backend = backend;
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  /** What stands here, in the word that operators choose it by: `memory`, `sqlite`. */
  get backend(): string {
    return this.#backend;
  }

  get isTaken(): boolean {
    return this.#isTaken;
  }

  supply(backend: string, value: T): void {
    if (this.#isSealed) throw new Error(`${this.#what}: ${backend} is supplied too late, stores are supplied in open`);
    if (this.#isTaken)
      throw new Error(`${this.#what}: ${backend} is supplied, but ${this.#backend} has been supplied before`);
    this.#backend = backend;
    this.#value = value;
    this.#isTaken = true;
  }

  seal(): void {
    this.#isSealed = true;
  }
}
