const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/** Within this time the same signal is the first one, passed on. */
const ONE_MS = 50;

/**
 * Listens for SIGINT and SIGTERM before the program is loaded. Without a listener, such a signal is lost where the
 * process is the first of its container, and elsewhere ends the process, even one that serves already, without letting its
 * requests finish. The first signal goes to the listener; a second one ends the process at once. Where a program around this one passes
 * signals on, each may come twice: a terminal and a service manager send it to every process of a group.
 */
export class StopSignal {
  #heard: NodeJS.Signals | undefined;
  #listener: (() => void) | undefined;
  #isSettled = false;

  readonly #isPassedOn: boolean;

  constructor({ isPassedOn }: { readonly isPassedOn: boolean }) {
    this.#isPassedOn = isPassedOn;
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
    if (this.#heard !== undefined) {
      if (signal !== this.#heard) this.#end(signal);
      return;
    }
    this.#heard = signal;
    if (this.#isPassedOn) setTimeout(this.#letGo, ONE_MS).unref();
    else this.#letGo();
    if (this.#listener) this.#listener();
    else if (this.#isSettled) this.#endUnheard();
  };

  readonly #letGo = (): void => {
    for (const each of SIGNALS) process.off(each, this.#hear);
  };

  #endUnheard(): void {
    if (this.#heard !== undefined && !this.#listener) this.#end(this.#heard);
  }

  #end(signal: NodeJS.Signals): void {
    this.#letGo();
    process.kill(process.pid, signal);
  }
}
