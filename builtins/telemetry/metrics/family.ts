import type { Labels } from '../../../host/contract/index.ts';

/** What is known of a figure before anything is counted. */
export interface Description {
  readonly name: string;
  readonly kind: 'counter' | 'histogram' | 'gauge';
  /** What the gauges of several processes become. */
  readonly overProcesses?: 'sum' | 'largest';
  readonly help: string;
  /** Each label with the values it may have; `undefined` where the labels are whatever is counted. */
  readonly labels: Readonly<Record<string, 'any' | readonly string[]>> | undefined;
  /** Upper bounds of a histogram, ascending. */
  readonly buckets?: readonly number[] | undefined;
  /** Combinations of label values that are kept apart. */
  readonly mostSeries: number;
}

/** One combination of label values. */
export interface Series {
  readonly labels: Labels;
  /** The value; that of a histogram is the sum of what was observed. */
  value: number;
  /** How many observations of a histogram fell into each bucket alone; the last place is for those above all bounds. */
  readonly inBucket: Float64Array | undefined;
}

/** What one combination of label values has counted in a while. */
export interface Increment {
  readonly labels: Labels;
  readonly value: number;
  readonly inBucket: Float64Array | undefined;
}

/** One figure with its series. What exceeds their number is counted together, with `other` in every label that has room for it. */
export class Family {
  readonly description: Description;
  readonly #series = new Map<string, Series>();
  readonly #names: readonly string[] | undefined;
  /** The two series found last: what is counted next mostly belongs to one of them, and comparing labels is cheaper than making a key of them. */
  #last: Series | undefined;
  #before: Series | undefined;

  constructor(description: Description) {
    this.description = description;
    this.#names = description.labels && Object.keys(description.labels);
  }

  get series(): Iterable<Series> {
    return this.#series.values();
  }

  add(labels: Labels, by: number): void {
    this.#find(labels).value += by;
  }

  set(labels: Labels, value: number): void {
    this.#find(labels).value = value;
  }

  observe(labels: Labels, value: number): void {
    const { buckets = [] } = this.description;
    const found = this.#find(labels);
    let place = 0;
    while (place < buckets.length && value > (buckets[place] ?? 0)) place += 1;
    found.value += value;
    if (found.inBucket) found.inBucket[place] = (found.inBucket[place] ?? 0) + 1;
  }

  /** What was counted since it was last taken; it begins anew, and so a series without anything new is left out. */
  takeIncrements(): readonly Increment[] {
    const taken: Increment[] = [];
    for (const series of this.#series.values()) {
      const { labels, value, inBucket } = series;
      if (value === 0 && inBucket?.some((count) => count > 0) !== true) continue;
      taken.push({ labels, value, inBucket: inBucket?.slice() });
      series.value = 0;
      inBucket?.fill(0);
    }
    return taken;
  }

  /** Counts what another process has counted. */
  merge({ labels, value, inBucket }: Increment): void {
    const found = this.#find(labels);
    found.value += value;
    inBucket?.forEach((count, place) => {
      if (found.inBucket) found.inBucket[place] = (found.inBucket[place] ?? 0) + count;
    });
  }

  /** Drops the series that have these labels, whatever their others. */
  forget(labels: Labels): void {
    const wanted = Object.entries(labels);
    this.#last = undefined;
    this.#before = undefined;
    for (const [key, series] of this.#series)
      if (wanted.every(([name, value]) => series.labels[name] === value)) this.#series.delete(key);
  }

  #find(labels: Labels): Series {
    if (this.#last && this.#isOf(this.#last, labels)) return this.#last;
    if (this.#before && this.#isOf(this.#before, labels)) return this.#before;
    const key = this.#keyOf(labels);
    const found = this.#series.get(key) ?? this.#create(key, labels);
    this.#before = this.#last;
    this.#last = found;
    return found;
  }

  /** Never true for what is counted under `other`. */
  #isOf(series: Series, labels: Labels): boolean {
    if (!this.#names) return false;
    for (const name of this.#names) if (series.labels[name] !== labels[name]) return false;
    return true;
  }

  #create(key: string, labels: Labels): Series {
    const { kind, buckets = [], mostSeries } = this.description;
    const isFull = this.#series.size >= mostSeries;
    const kept = isFull ? this.#others(labels) : { ...labels };
    const keptKey = isFull ? this.#keyOf(kept) : key;
    const known = this.#series.get(keptKey);
    if (known) return known;
    const created: Series = {
      labels: kept,
      value: 0,
      inBucket: kind === 'histogram' ? new Float64Array(buckets.length + 1) : undefined,
    };
    this.#series.set(keptKey, created);
    return created;
  }

  #others(labels: Labels): Labels {
    const { labels: allowed } = this.description;
    return Object.fromEntries(
      Object.entries(labels).map(([name, value]) => [name, Array.isArray(allowed?.[name]) ? value : 'other']),
    );
  }

  /** The key of labels, in whatever order they stand. */
  #keyOf(labels: Labels): string {
    let key = '';
    if (this.#names) for (const name of this.#names) key += `${labels[name]}\0`;
    else for (const name of Object.keys(labels).toSorted()) key += `${name}\0${labels[name]}\0`;
    return key;
  }
}
