import { type Exchange, inTurns, type Steps, type Verdict } from 'gw/contract';

/** Characters that are looked at before others may be served; beside each text something. */
const STEP = 16 * 1024;
const EACH_TEXT = 64;

/** A guardrail's look at an exchange, in turns of the event loop. A request whose client has left is not looked at any further: it ends before its call. */
export function inTurnsFor(
  exchange: Exchange,
  steps: Steps<Verdict | undefined>,
): Verdict | undefined | Promise<Verdict | undefined> {
  const isBefore = exchange.stage === 'before_request';
  return inTurns(steps, { isOver: () => isBefore && exchange.signal.aborted });
}

/** Says for one text after another when others may be served: many short ones are read in a row. */
export class Pace {
  #read = 0;

  isDue({ length }: string): boolean {
    this.#read += length + EACH_TEXT;
    if (this.#read < STEP) return false;
    this.#read = 0;
    return true;
  }
}
