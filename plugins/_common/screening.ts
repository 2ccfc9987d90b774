import {
  type Exchange,
  ExchangeNote,
  filterGuard,
  reject,
  type Steps,
  type StreamGuard,
  type Verdict,
} from 'gw/contract';
import type { Detector } from './detector.ts';
import { isFound, maskExchange, spanFilter } from './masking.ts';
import { Placeholders } from './placeholders.ts';
import type { StreamSettings } from './settings.ts';
import { inTurnsFor } from './turns.ts';

interface ScreeningSettings extends StreamSettings {
  action: 'mask' | 'reject';
}

/** Masks or refuses what a detector finds, in requests, answers and streams. */
export class Screening {
  /** What was masked of a request, for its answer. */
  readonly masked = new ExchangeNote<Placeholders>();
  readonly #settings: ScreeningSettings;
  readonly #detector: Detector;
  /** What is looked for, in the words of reasons. */
  readonly #what: string;

  constructor(settings: ScreeningSettings, detector: Detector, what: string) {
    this.#settings = settings;
    this.#detector = detector;
    this.#what = what;
  }

  /** In turns of the event loop: a body may be as large as a request can be. */
  screen(exchange: Exchange): Verdict | undefined | Promise<Verdict | undefined> {
    return inTurnsFor(exchange, this.#screen(exchange));
  }

  *#screen(exchange: Exchange): Steps<Verdict | undefined> {
    const { action, observe } = this.#settings;
    if (action === 'reject' || this.#isDelivered(exchange))
      return (yield* isFound(exchange, this.#detector)) ? reject(`${this.#what} found`) : undefined;
    const placeholders = this.masked.get(exchange) ?? new Placeholders();
    const verdict = yield* maskExchange(exchange, this.#detector, placeholders, this.#what);
    if (!placeholders.isEmpty && !observe) this.masked.put(exchange, placeholders);
    return verdict;
  }

  /** Streams are masked as they arrive, unless that is only to be recorded; what is to be refused is held back with `stream: window`. */
  guardStream(exchange: Exchange): StreamGuard | undefined {
    const { action, observe, stream } = this.#settings;
    if (observe || stream === 'record' || (action === 'reject' && stream !== 'window')) return undefined;
    const reason = `${this.#what} found`;
    if (action === 'reject') return filterGuard(() => spanFilter(this.#detector, () => undefined), reason);
    const placeholders = this.masked.get(exchange) ?? new Placeholders();
    let isMasked = false;
    const guard = filterGuard(
      () =>
        spanFilter(this.#detector, (kind, value) => {
          isMasked = true;
          return placeholders.of(kind, value);
        }),
      `${reason} where it cannot be masked`, // the only reason for which masking ends a stream
    );
    const note = `${this.#what} masked`;
    return {
      ...guard,
      get masked() {
        return isMasked ? note : undefined;
      },
    };
  }

  /** A stream went through its guard already: what is found now can only be refused. */
  #isDelivered({ stage, streaming, answeredBy }: Exchange): boolean {
    const { observe, stream } = this.#settings;
    return stage === 'after_request' && streaming && answeredBy === undefined && !observe && stream !== 'record';
  }
}
