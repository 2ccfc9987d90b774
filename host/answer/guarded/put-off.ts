/** Work on what a stream brought, in its order, of which the rest waits while others are served. */
export class PutOff {
  #tasks: (() => void)[] = [];
  #first = 0;

  get isEmpty(): boolean {
    return this.#first >= this.#tasks.length;
  }

  /** Does it at once, or behind what waits. */
  run(task: () => void): void {
    if (this.isEmpty) task();
    else this.#tasks.push(task);
  }

  /** Puts work before all that waits. */
  before(tasks: readonly (() => void)[]): void {
    if (tasks.length === 0) return;
    this.#tasks = [...tasks, ...this.#tasks.slice(this.#first)];
    this.#first = 0;
  }

  /** Does the first piece of what waits. */
  next(): void {
    const task = this.#tasks[this.#first];
    this.#first += 1;
    if (this.isEmpty) this.clear();
    task?.();
  }

  clear(): void {
    this.#tasks = [];
    this.#first = 0;
  }
}
