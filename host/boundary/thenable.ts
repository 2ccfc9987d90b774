import { type Clock, TookTooLong } from '../common/clock.ts';

/** Whether a module returned something that must be waited for. Its `then` may be a getter that throws: call this inside a `try`. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** What a module's promise comes to; a failure that names `what` where it does not settle in time. */
export function inTime<T>(work: PromiseLike<T>, ms: number, clock: Pick<Clock, 'timer'>, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.timer(ms, () => reject(new TookTooLong(`${what} did not finish within ${ms} ms`)));
    work.then((value) => {
      timer.cancel();
      resolve(value);
    }, (error: unknown) => {
      timer.cancel();
      reject(error); // whatever it is: the boundary makes an error of it
    });
  });
}

/** For functions that are synchronous: a promise is refused, however it ends. */
export function refusePromise(value: unknown): void {
  if (!isThenable(value)) return;
  value.then(undefined, () => {});
  throw new Error('it returned a promise: it is synchronous');
}
