/**
 * Work that can be interrupted: where it yields, others may be served. It yields often, after some
 * thousandth of a second at the latest, and returns what it came to.
 */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Milliseconds after which others are served. */
const LONG_MS = 25;

/** When work in turns is given up, and the clock of its turns. */
export interface TurnOptions {
  /** Asked between two turns: the work is given up, and comes to `undefined`, once it answers true. */
  readonly isOver?: () => boolean;
  /** Milliseconds that never jump. */
  readonly now?: () => number;
}

/**
 * Does work in as many turns of the event loop as it takes, none of them much longer than 25 ms: a
 * guardrail that reads a body of many megabytes at once keeps every other client waiting.
 *
 * @param steps a generator function's work; it yields nothing, wherever it may be interrupted.
 * @returns what the work returns, at once where it was done in time, else a promise.
 * @throws what the work throws; once others have been served, the promise rejects with it.
 * @example
 * ```ts
 * import { type Exchange, inTurns, reject, type Steps, texts, type Verdict } from 'gw/contract';
 *
 * function* look(exchange: Exchange): Steps<Verdict | undefined> {
 *   for (const text of texts(exchange)) {
 *     if (text.includes('xyzzy')) return reject('a magic word');
 *     yield; // others may be served before the next text
 *   }
 *   return undefined;
 * }
 *
 * export const handler = (exchange: Exchange) => inTurns(look(exchange));
 * ```
 */
export function inTurns<T>(
  steps: Steps<T>,
  { isOver = () => false, now = () => performance.now() }: TurnOptions = {},
): T | Promise<T | undefined> {
  const first = oneTurn(steps, now);
  return first.done ? first.value : inFurtherTurns(steps, isOver, now);
}

/** Does work in one turn, however long it takes: for what must be answered at once. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** The result, or what the last step before the time was up gave. */
function oneTurn<T>(steps: Steps<T>, now: () => number): IteratorResult<undefined, T> {
  const end = now() + LONG_MS;
  for (;;) {
    const step = steps.next();
    if (step.done || now() >= end) return step;
  }
}

async function inFurtherTurns<T>(steps: Steps<T>, isOver: () => boolean, now: () => number): Promise<T | undefined> {
  for (;;) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    if (isOver()) {
      steps.return(undefined as T);
      return undefined;
    }
    const step = oneTurn(steps, now);
    if (step.done) return step.value;
  }
}
