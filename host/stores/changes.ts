import { type Clock, TookTooLong } from '../common/clock.ts';
import { type StoreLink, StoreUnavailable } from './store-link.ts';

/** Milliseconds in which a store may begin a change, and after which it is given up; who asked for it waits a second more, in which it can be looked at. */
const CHANGE_MS = 9000;
const CALLER_MS = 10_000;
/** Milliseconds between two looks, doubled with each of them. */
const FIRST_PAUSE_MS = 100;

/** It is not known whether the store has done it. */
export class ChangeInDoubt extends StoreUnavailable {}

/** A change by an administrator while it is made. It is decided in its time or never: what waited on the way to a hung server is undone there. */
export class PendingChange {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #endsAt: number;
  #isGivenUp = false;
  #isInDoubt = false;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
    this.#endsAt = clock.monotonic() + CHANGE_MS;
  }

  /** What decides was sent, and the store has not said what came of it. */
  get isInDoubt(): boolean {
    return this.#isInDoubt;
  }

  /** Throws once it is too late, or given up. */
  goOn(): void {
    if (this.#isGivenUp || this.#clock.monotonic() >= this.#endsAt)
      throw new TookTooLong(`the change was not begun within ${CHANGE_MS} ms`);
  }

  /** Before what decides is sent, and cannot be taken back. */
  decide(): void {
    this.goOn();
    this.#isInDoubt = true;
  }

  /** The store said no: nothing was done. */
  refused(): void {
    this.#isInDoubt = false;
  }

  /** What decides is not sent any more, where it was not. */
  giveUp(): void {
    this.#isGivenUp = true;
  }
}

/** What a look found: the change is done, with what it would have answered, or it is not; `undefined` where that cannot be seen any more. */
export type Found<T> = { readonly isDone: true; readonly answer: T } | { readonly isDone: false } | undefined;

export interface Changing<T> {
  readonly make: (change: PendingChange) => Promise<T>;
  /** Looks what came of it, once it can be seen that it has ended. */
  readonly look: () => Promise<Found<T>>;
}

/**
 * Makes a change within ten seconds. Where the answer to what decided it was lost, the store is asked what came of it, as long as the caller waits. Throws
 * `StoreUnavailable` where nothing was done, and `ChangeInDoubt` where that is not known.
 */
export async function changed<T>(link: StoreLink, clock: Clock, { make, look }: Changing<T>): Promise<T> {
  const endsAt = clock.monotonic() + CALLER_MS;
  const change = new PendingChange(clock);
  try {
    return await link.ask(() => make(change), CHANGE_MS);
  } catch (error) {
    change.giveUp();
    if (!(error instanceof StoreUnavailable) || !change.isInDoubt) throw error;
    const found = await lookUntil(endsAt, { link, clock, look });
    if (found?.isDone) return found.answer;
    if (found) throw error;
    throw new ChangeInDoubt(error.message, { cause: error });
  }
}

async function lookUntil<T>(
  endsAt: number,
  { link, clock, look }: Pick<Changing<T>, 'look'> & { readonly link: StoreLink; readonly clock: Clock },
): Promise<Found<T>> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
    const leftMs = endsAt - clock.monotonic();
    if (leftMs <= 0) return undefined;
    try {
      return await link.ask(look, leftMs);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      await pause(Math.min(pauseMs, Math.max(0, endsAt - clock.monotonic())), clock);
    }
  }
}

const pause = (ms: number, clock: Clock): Promise<void> =>
  new Promise((resolve) => {
    clock.timer(ms, resolve);
  });
