import { type Clock, forwardClock, type Timer } from '../../common/clock.ts';

/** One reading of a database's clock. Times of this process are monotonic milliseconds. */
export interface ClockReading {
  readonly askedAt: number;
  readonly answeredAt: number;
  /** Unix milliseconds, read by the database somewhere between the two. */
  readonly time: number;
}

interface Sample {
  readonly roundTripMs: number;
  /** What is added to the monotonic clock. */
  readonly offsetMs: number;
}

/** Readings that are kept: the fastest of them counts, because its middle is nearest to the moment at which the database looked. */
const KEPT = 5;
/** Milliseconds by which two readings may differ beyond their round trips and still be of one clock. */
const TOLERANCE_MS = 100;
/** Milliseconds by which two readings of clocks differ although the clocks keep their distance. */
const STEADY_MS = 5;
/** A step back of fewer milliseconds is waited out: what happened later is never earlier. A larger one is a clock that was corrected, and is followed. */
const STANDS_STILL_MS = 2000;

/**
 * The time of a store that several processes use: that of its database, so that they agree on what has expired and on what came first, whatever
 * their own clocks say. It goes on by the monotonic clock while the database does not answer. Before a first reading, and where the store is
 * this process's alone, it is the machine's clock, which never goes back.
 */
export class StoreClock implements Clock {
  readonly monotonic: () => number;
  readonly timer: (ms: number, then: () => void) => Timer;
  readonly #machine: Clock;
  readonly #forward: Clock;
  #samples: readonly Sample[] = [];
  #offsetMs: number | undefined;
  #last = Number.NEGATIVE_INFINITY;
  #shiftMs = 0;

  constructor(machine: Clock) {
    this.#machine = machine;
    this.#forward = forwardClock(machine);
    this.monotonic = machine.monotonic;
    this.timer = machine.timer;
  }

  /** Unix milliseconds. */
  readonly now = (): number => {
    if (this.#offsetMs === undefined) return this.#forward.now();
    const now = Math.floor(this.#machine.monotonic() + this.#offsetMs);
    if (now >= this.#last || this.#last - now >= STANDS_STILL_MS) this.#last = now;
    return this.#last;
  };

  read({ askedAt, answeredAt, time }: ClockReading): void {
    const sample = { roundTripMs: answeredAt - askedAt, offsetMs: time - (askedAt + answeredAt) / 2 };
    const before = fastest(this.#samples);
    // Another server answers, or the machine slept: what was read before says nothing any more.
    const isOther = before !== undefined && !agree(before, sample);
    this.#samples = isOther ? [sample] : [...this.#samples, sample].slice(-KEPT);
    this.#offsetMs = fastest(this.#samples)?.offsetMs;
  }

  /** Milliseconds that the machine's clock is ahead of the database's, less than 0 behind it; `undefined` where no database was asked. */
  get machineAheadMs(): number | undefined {
    if (this.#offsetMs === undefined) return undefined;
    return Math.round(this.#machine.now() - this.#machine.monotonic() - this.#offsetMs);
  }

  /** What is added to a moment of the machine's clock, in whole milliseconds. It stays as it is for as long as it can, so that moments keep their order. */
  get shiftMs(): number {
    const shift = -(this.machineAheadMs ?? 0);
    if (Math.abs(shift - this.#shiftMs) > STEADY_MS) this.#shiftMs = shift;
    return this.#shiftMs;
  }
}

function fastest(samples: readonly Sample[]): Sample | undefined {
  return samples.toSorted((a, b) => a.roundTripMs - b.roundTripMs)[0];
}

/** Each is right to half of its round trip. */
function agree(a: Sample, b: Sample): boolean {
  return Math.abs(a.offsetMs - b.offsetMs) <= (a.roundTripMs + b.roundTripMs) / 2 + TOLERANCE_MS;
}
