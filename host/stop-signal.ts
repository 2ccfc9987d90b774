const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/** Within this time the same signal is the first one, passed on. */
const ONE_MS = 50;
/** A terminal, or a service manager, sends them to every process of a group. */
const OVERHEARD = ['SIGHUP', 'SIGUSR2'] as const;

export interface StopSignalOptions {
  readonly isPassedOn: boolean;
  readonly hasTerminal: boolean;
  /** A worker goes by its primary alone: no signal ends it but one that no process can refuse. */
  readonly isWorker?: boolean;
}

/**
 * Listens for SIGINT and SIGTERM before the program is loaded. Without a listener, such a signal is lost where the
 * process is the first of its container, and elsewhere ends the process, even one that serves already, without letting its
 * requests finish. The first signal goes to the listener; a second one ends the process at once. Where a program around this one passes
 * signals on, each may come twice: a terminal and a service manager send it to every process of a group.
 *
 * SIGHUP says that the terminal closed, where there is one, and is a first signal too; it comes more than once then, and after
 * a SIGTERM of some service managers, so it never is a second one. Without a terminal it asks a service to look at its files.
 */
export class StopSignal {
  #heard: NodeJS.Signals | undefined;
  #listener: (() => void) | undefined;
  #isSettled = false;

  #hangUpListener: (() => void) | undefined;
  #isHungUp = false;

  readonly #isPassedOn: boolean;
  readonly #hasTerminal: boolean;
  readonly #isWorker: boolean;

  constructor({ isPassedOn, hasTerminal, isWorker = false }: StopSignalOptions) {
    this.#isPassedOn = isPassedOn;
    this.#hasTerminal = hasTerminal;
    this.#isWorker = isWorker;
    if (isWorker) {
      for (const signal of [...SIGNALS, ...OVERHEARD]) process.on(signal, () => {});
      return;
    }
    for (const signal of SIGNALS) process.on(signal, this.#hear);
    process.on('SIGHUP', this.#hangUp);
  }

  /** Calls back once, at once when the signal has come already. */
  onStop(listener: () => void): void {
    this.#listener = listener;
    if (this.#heard !== undefined) listener();
  }

  /** Calls back at every SIGHUP that comes without a terminal. */
  onHangUp(listener: () => void): void {
    this.#hangUpListener = listener;
  }

  /** From here on, a signal ends the process if `onStop` was not called, or `onHangUp` for SIGHUP, as it would without this class. */
  settle(): void {
    if (this.#isWorker) return;
    this.#isSettled = true;
    this.#endUnheard();
    if (this.#hasTerminal || this.#hangUpListener) return;
    if (this.#isHungUp) this.#end('SIGHUP');
    else process.off('SIGHUP', this.#hangUp);
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

  readonly #hangUp = (): void => {
    this.#isHungUp = true;
    if (!this.#hasTerminal) this.#hangUpListener?.();
    else if (this.#heard === undefined) this.#hear('SIGHUP');
  };

  readonly #letGo = (): void => {
    for (const each of SIGNALS) process.off(each, this.#hear);
  };

  #endUnheard(): void {
    if (this.#heard !== undefined && !this.#listener) this.#end(this.#heard);
  }

  #end(signal: NodeJS.Signals): void {
    this.#letGo();
    process.off('SIGHUP', this.#hangUp);
    process.kill(process.pid, signal);
  }
}
