import type { ServerResponse } from 'node:http';
import type { Clock } from '../../common/clock.ts';

/** Longest time a client may take nothing of what waits for it. See docs/reference/data-plane.md#silence. */
const WRITE_LIMIT_MS = 15_000;

/**
 * Calls `then` once, when the client has taken what was written (`drain`; `finish` after the end), or is gone. A client that
 * takes nothing for too long is cut off. An answer that stands behind others of its connection waits for them, not for the
 * client. The function it returns ends the wait.
 */
export function whenTaken(
  response: ServerResponse,
  event: 'drain' | 'finish',
  clock: Clock,
  then: () => void,
): () => void {
  let hadItsTurn = response.socket !== null;
  const deadline = clock.timer(WRITE_LIMIT_MS, () => {
    if (hadItsTurn) {
      response.destroy();
      return;
    }
    hadItsTurn = response.socket !== null;
    deadline.refresh();
  });
  const stop = (): void => {
    deadline.cancel();
    response.off(event, done);
    response.off('close', done);
  };
  const done = (): void => {
    stop();
    then();
  };
  response.on(event, done);
  response.on('close', done);
  return stop;
}
