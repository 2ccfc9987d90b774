/** The median of the last samples. Reading it costs nothing; adding one moves at most a window of numbers. */
export class RecentMedian {
  readonly #ring: Float64Array;
  /** The samples of the ring, ascending. */
  readonly #sorted: Float64Array;
  #count = 0;
  #next = 0;

  constructor(window: number) {
    this.#ring = new Float64Array(window);
    this.#sorted = new Float64Array(window);
  }

  /** The upper one of the two in the middle; `undefined` without samples. */
  get value(): number | undefined {
    return this.#count === 0 ? undefined : this.#sorted[Math.floor(this.#count / 2)];
  }

  /** The oldest sample makes room once the window is full. */
  add(sample: number): void {
    if (this.#count === this.#ring.length) this.#remove(this.#ring[this.#next] ?? 0);
    this.#ring[this.#next] = sample;
    this.#next = (this.#next + 1) % this.#ring.length;
    const at = this.#placeOf(sample);
    this.#sorted.copyWithin(at + 1, at, this.#count);
    this.#sorted[at] = sample;
    this.#count += 1;
  }

  #remove(sample: number): void {
    const at = this.#placeOf(sample);
    this.#sorted.copyWithin(at, at + 1, this.#count);
    this.#count -= 1;
  }

  /** Where the first sample stands that is not smaller. */
  #placeOf(sample: number): number {
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#sorted[middle] ?? 0) < sample) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
