const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Listens for SIGINT and SIGTERM before the program is loaded. Without a listener, such a signal is lost where the
 * process is the first of its container, and elsewhere ends the process, even one that serves already, without letting its
 * requests finish. The first signal goes to the listener; a second one ends the process at once.
 */
export class StopSignal {
  #heard: NodeJS.Signals | undefined;
  #listener: (() => void) | undefined;
  #isSettled = false;

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#hear);
  }

  /** Calls back once, at once when the signal has come already. */
  onStop(listener: () => void): void {
    this.#listener = listener;
    if (this.#heard !== undefined) listener();
  }

  /** From here on, a signal ends the process if `onStop` was not called, as it would without this class. */
  settle(): void {
    this.#isSettled = true;
    this.#endUnheard();
  }

  readonly #hear = (signal: NodeJS.Signals): void => {
    for (const each of SIGNALS) process.off(each, this.#hear);
    this.#heard = signal;
    if (this.#listener) this.#listener();
    else if (this.#isSettled) this.#endUnheard();
  };

  #endUnheard(): void {
    if (this.#heard !== undefined && !this.#listener) process.kill(process.pid, this.#heard);
  }
}
