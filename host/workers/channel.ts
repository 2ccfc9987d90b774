import { fromWireError, toWireError, type WireError } from './wire-errors.ts';

/** What takes messages to the other process, and calls back with those that come from there. */
export interface Port {
  /** False once more waits to be sent than should. */
  send(frames: readonly Frame[]): boolean;
  listen(hear: (frames: readonly Frame[]) => void): void;
}

/** One message. An `ask` has a number that its answer repeats. */
export type Frame =
  | { readonly kind: 'tell'; readonly topic: string; readonly value: unknown }
  | { readonly kind: 'ask'; readonly topic: string; readonly value: unknown; readonly number: number }
  | { readonly kind: 'answer'; readonly number: number; readonly value: unknown }
  | { readonly kind: 'fault'; readonly number: number; readonly error: WireError };

/** Takes a message, or a question: what it returns is the answer. */
export type Handler = (value: unknown) => unknown;

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Messages and questions between two processes, each way in their order. What one turn of the event loop says leaves as one message: each costs some
 * microseconds, whatever it holds.
 */
export class Channel {
  readonly #port: Port;
  readonly #handlers = new Map<string, Handler>();
  readonly #waiting = new Map<number, Waiting>();
  #frames: Frame[] = [];
  #number = 0;
  #isBusy = false;
  #closed: Error | undefined;

  constructor(port: Port) {
    this.#port = port;
    port.listen((frames) => {
      for (const frame of frames) this.#take(frame);
    });
  }

  /** More waits to be sent than should: what can wait, or be dropped, is held back. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  on(topic: string, handler: Handler): void {
    this.#handlers.set(topic, handler);
  }

  tell(topic: string, value?: unknown): void {
    this.#say({ kind: 'tell', topic, value });
  }

  /** Rejects with the error that the other process threw, and once the channel is closed. It sets no limit of time. */
  ask<T>(topic: string, value?: unknown): Promise<T> {
    if (this.#closed) return Promise.reject(this.#closed);
    const number = (this.#number += 1);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting.set(number, { resolve, reject });
    this.#say({ kind: 'ask', topic, value, number });
    return promise as Promise<T>;
  }

  /** The other process has gone: nothing is sent any more, and who waits learns why. */
  close(error: Error): void {
    if (this.#closed) return;
    this.#closed = error;
    this.#frames = [];
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  /** Sends what waits now, rather than at the end of this turn. */
  flush(): void {
    const frames = this.#frames;
    if (frames.length === 0 || this.#closed) return;
    this.#frames = [];
    this.#isBusy = !this.#port.send(frames);
  }

  #say(frame: Frame): void {
    if (this.#closed) return;
    this.#frames.push(frame);
    if (this.#frames.length === 1) setImmediate(() => this.flush());
  }

  #take(frame: Frame): void {
    if (frame.kind === 'ask') void this.#answer(frame);
    else if (frame.kind === 'tell') this.#handlers.get(frame.topic)?.(frame.value);
    else {
      const waiting = this.#waiting.get(frame.number);
      this.#waiting.delete(frame.number);
      if (frame.kind === 'answer') waiting?.resolve(frame.value);
      else waiting?.reject(fromWireError(frame.error));
    }
  }

  async #answer({ topic, value, number }: Extract<Frame, { kind: 'ask' }>): Promise<void> {
    try {
      const handler = this.#handlers.get(topic);
      if (!handler) throw new Error(`the other process does not answer "${topic}"`);
      const answer = handler(value);
      this.#say({ kind: 'answer', number, value: answer instanceof Promise ? ((await answer) as unknown) : answer });
    } catch (error) {
      this.#say({ kind: 'fault', number, error: toWireError(error) });
    }
  }
}
