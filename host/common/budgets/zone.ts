/** Minutes and days of a time zone, by the data of this process. All moments are Unix milliseconds. */
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** The clock of a time zone. It asks `Intl`, which every Node that runs this has. */
export class Zone {
  readonly name: string;
  readonly #format: Intl.DateTimeFormat;

  /** Throws a `RangeError` for a name that this process does not know. */
  constructor(name: string) {
    this.name = name;
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  /** What its clocks show at a moment, as if it were UTC. */
  localAt(at: number): number {
    const second = Math.floor(at / 1000) * 1000;
    const shown = new Map(this.#format.formatToParts(second).map(({ type, value }) => [type, Number(value)]));
    const part = (type: Intl.DateTimeFormatPartTypes): number => shown.get(type) ?? 0;
    const day = Date.UTC(part('year'), part('month') - 1, part('day'));
    return day + ((part('hour') * 60 + part('minute')) * 60 + part('second')) * 1000 + (at - second);
  }

  /**
   * The moment at which its clocks show a time. One that they leave out is as much later as they went ahead; of one that they show twice it is the
   * first.
   */
  momentOf(local: number): number {
    const before = this.#ahead(local - DAY_MS);
    const after = this.#ahead(local + DAY_MS);
    const [first, second] = [local - Math.max(before, after), local - Math.min(before, after)];
    if (this.localAt(first) === local) return first;
    return this.localAt(second) === local ? second : local - before;
  }

  /** Milliseconds that it is ahead of UTC. */
  #ahead(at: number): number {
    return this.localAt(at) - at;
  }
}

/** Whether a text is the name of a zone, such as `Europe/Berlin`, that this process knows. */
export function isZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false; // the clocks of `+02:00` are never changed
  try {
    return new Zone(name).localAt(0) > Number.NEGATIVE_INFINITY;
  } catch {
    return false;
  }
}
