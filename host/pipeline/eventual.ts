import type { GatewayError } from '../contract/index.ts';

/** A result that may be there at once: only those that must wait cost a promise. */
export type Eventual<T> = T | Promise<T>;

/** What both tapable's series hooks have, for one argument. */
interface WaitingHook<T, R> {
  tapAsync(options: TapOptions, run: (value: T, done: (error: Error | null, result?: R) => void) => void): void;
  callAsync(value: T, done: (error: unknown, result?: R) => void): void;
}

type TapOptions = string | { readonly name: string; readonly stage?: number };

/** Taps an asynchronous hook with a function that seldom waits. What it rejects with, or throws, ends the hook. */
export function tapEventual<T, R>(hook: WaitingHook<T, R>, options: TapOptions, run: (value: T) => Eventual<R>): void {
  hook.tapAsync(options, (value, goOn) => {
    let result: Eventual<R>;
    try {
      result = run(value);
    } catch (thrown) {
      goOn(asError(thrown));
      return;
    }
    if (result instanceof Promise)
      result.then(
        (late) => goOn(null, late),
        (thrown: unknown) => goOn(asError(thrown)),
      );
    else goOn(null, result);
  });
}

/** Whatever is thrown, `undefined` too: a hook takes only what is truthy for a failure, and would go on. */
function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error('something was thrown that is not an error', { cause: thrown });
}

/** Calls an asynchronous hook. The result is a promise only when some tap had to wait. */
export function callEventual<T, R>(hook: WaitingHook<T, R>, value: T): Eventual<R | undefined> {
  let isOver = false;
  let failure: unknown;
  let outcome: R | undefined;
  let late: PromiseWithResolvers<R | undefined> | undefined;
  hook.callAsync(value, (error, result) => {
    isOver = true;
    failure = error;
    outcome = result;
    if (!late) return;
    if (error) late.reject(error);
    else late.resolve(result);
  });
  if (!isOver) {
    late = Promise.withResolvers();
    return late.promise;
  }
  if (failure) throw failure;
  return outcome;
}

/** Throws what a bail hook refused with, now or later. Only `undefined` goes on: anything else has kept later taps from running. */
export function throwRefusal(refusal: Eventual<GatewayError | undefined>): Promise<void> | undefined {
  if (refusal instanceof Promise) return refusal.then(throwUnlessNone);
  throwUnlessNone(refusal);
  return undefined;
}

function throwUnlessNone(refusal: GatewayError | undefined): void {
  if (refusal !== undefined) throw asError(refusal);
}
