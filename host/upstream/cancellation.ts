import type { Clock } from '../common/clock.ts';
import type { GatewayError } from '../contract/index.ts';

/**
 * Why an exchange or an attempt must stop; every callback that waits for it is called once. A plain list of callbacks: an
 * `AbortSignal` costs more than the rest of a request's bookkeeping, so one is made only when it is asked for.
 */
export class Cancellation {
  #cause: GatewayError | undefined;
  #listeners: ((cause: GatewayError) => void)[] = [];
  #controller: AbortController | undefined;

  get cause(): GatewayError | undefined {
    return this.#cause;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#cause) this.#controller.abort(this.#cause);
    }
    return this.#controller.signal;
  }

  /** Only the first cause counts. */
  cancel(cause: GatewayError): void {
    if (this.#cause) return;
    this.#cause = cause;
    this.#controller?.abort(cause);
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener(cause);
  }

  /** Calls back at once when already cancelled. Returns how to stop listening. */
  onCancel(listener: (cause: GatewayError) => void): () => void {
    if (this.#cause) {
      listener(this.#cause);
      return () => {};
    }
    this.#listeners.push(listener);
    return () => {
      const at = this.#listeners.indexOf(listener);
      if (at >= 0) this.#listeners.splice(at, 1);
    };
  }

  throwIfCancelled(): void {
    if (this.#cause) throw this.#cause;
  }

  /** The work's result, or the cause as soon as there is one: work that does not listen is left behind. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const stop = this.onCancel(reject);
      work.then(
        (value) => {
          stop();
          resolve(value);
        },
        (error: unknown) => {
          stop();
          reject(error);
        },
      );
    });
  }

  /** Waits; rejects at once with the cause. */
  wait(ms: number, clock: Clock): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = clock.timer(ms, resolve);
    return this.race(promise).finally(() => timer.cancel());
  }
}
