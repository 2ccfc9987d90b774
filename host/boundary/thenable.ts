import { type Clock, TookTooLong } from '../common/clock.ts';
import type { GatewayError } from '../contract/index.ts';

/** Whether a module returned something that must be waited for. Its `then` may be a getter that throws: call this inside a `try`. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** A request that may end before a module's work does. */
interface Ending {
  onCancel(listener: (cause: GatewayError) => void): () => void;
}

/**
 * What a module's promise comes to; a failure that names `what` where it does not settle in time. With the request's own time ends that of
 * the module; of a client that leaves, nothing is said.
 */
export function inTime<T>(
  work: PromiseLike<T>,
  ms: number,
  clock: Pick<Clock, 'timer'>,
  what: string,
  request?: Ending,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.timer(ms, () => reject(new TookTooLong(`${what} did not finish within ${ms} ms`)));
    const stop = request?.onCancel(({ code }) => {
      timer.cancel();
      if (code === 'gateway_timeout') reject(new TookTooLong(`${what} did not finish within the request's time`));
    });
    work.then(
      (value) => {
        timer.cancel();
        stop?.();
        resolve(value);
      },
      (error: unknown) => {
        timer.cancel();
        stop?.();
        reject(error); // whatever it is: the boundary makes an error of it
      },
    );
  });
}

/** For functions that are synchronous: a promise is refused, however it ends. */
export function refusePromise(value: unknown): void {
  if (!isThenable(value)) return;
  value.then(undefined, () => {});
  throw new Error('it returned a promise: it is synchronous');
}
