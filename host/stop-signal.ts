const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/** Within this time a signal is the first one again: a terminal and a service manager send it to every process of a group, and what started this one passes it on. */
const ONE_MS = 50;

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
    if (this.#heard !== undefined) return;
    this.#heard = signal;
    setTimeout(this.#letGo, ONE_MS).unref();
    if (this.#listener) this.#listener();
    else if (this.#isSettled) this.#endUnheard();
  };

  readonly #letGo = (): void => {
    for (const each of SIGNALS) process.off(each, this.#hear);
  };

  #endUnheard(): void {
    if (this.#heard === undefined || this.#listener) return;
    this.#letGo();
    process.kill(process.pid, this.#heard);
  }
}
