import { nextTurn } from '../../common/next-turn.ts';
import type { GuardedHandler } from './guard.ts';
import type { GuardDeps } from './guarded-stage.ts';

/** Milliseconds beyond which others have been held up. */
export const LONG_MS = 25;

/** Others are served after a handler that took long, so that what several take of a large body is never one turn of the event loop. */
export function givingWay(handler: GuardedHandler, clock: Pick<GuardDeps['clock'], 'monotonic'>): GuardedHandler {
  return (exchange) => {
    const startedAt = clock.monotonic();
    const result = handler(exchange);
    return clock.monotonic() - startedAt < LONG_MS
      ? result
      : Promise.all([result, nextTurn()]).then(([decided]) => decided);
  };
}
