import type { Clock, Timer } from '../../common/clock.ts';
import {
  DISK,
  type FileAccess,
  type FileOutcome,
  type FileRead,
  faultStamp,
  readTextFile,
  stampOf,
  type TextFile,
} from './secret-file.ts';

/** Milliseconds between two looks at the files. */
const LOOK_MS = 30_000;
/** Files looked at at a time. */
const AT_A_TIME = 16;
/** A file that was changed less than so many milliseconds ago may still be being written: it is read a little later. */
const SETTLE_MS = 2000;

/** A file that is looked at until `end`. */
export interface Watch {
  /** What the last read gave. */
  readonly outcome: FileOutcome;
  end(): void;
}

type Listener = (outcome: FileOutcome) => void;

interface Watched {
  readonly file: TextFile;
  readonly listeners: Set<Listener>;
  readonly begun: Promise<void>;
  stamp: string;
  outcome: FileOutcome;
}

/** How often a read is begun again because the file changed under it, before it counts as unreadable for now. */
const FIRST_READS = 3;

/**
 * Looks at files and reads those that changed: through their links, so that a swapped link is seen. One timer for all of
 * them, and none while nothing is watched.
 */
export class WatchedFiles {
  readonly #clock: Clock;
  readonly #access: FileAccess;
  readonly #byKey = new Map<string, Watched>();
  #timer: Timer | undefined;
  #looking: Promise<void> | undefined;
  #isAskedAgain = false;
  #isClosed = false;

  constructor(clock: Clock, access: FileAccess = DISK) {
    this.#clock = clock;
    this.#access = access;
  }

  /** Files that are looked at. */
  get size(): number {
    return this.#byKey.size;
  }

  /** Reads a file once. */
  async read(file: TextFile): Promise<FileOutcome> {
    return (await this.#firstRead(file)).outcome;
  }

  /** Reads a file, and calls back after every later read of it, whatever it gave. */
  async watch(file: TextFile, listener: Listener): Promise<Watch> {
    const key = JSON.stringify([file.path, file.maxBytes, file.directories]);
    let watched = this.#byKey.get(key);
    if (!watched) {
      watched = this.#begin(file);
      this.#byKey.set(key, watched);
    }
    const entry = watched;
    entry.listeners.add(listener);
    this.#startTimer();
    await entry.begun;
    return {
      get outcome() {
        return entry.outcome;
      },
      end: () => {
        entry.listeners.delete(listener);
        if (entry.listeners.size > 0 || this.#byKey.get(key) !== entry) return;
        this.#byKey.delete(key);
        if (this.#byKey.size === 0) this.#stopTimer();
      },
    };
  }

  /** Looks at every file now. Resolves when all that changed has been read. */
  async look(): Promise<void> {
    if (this.#looking) {
      this.#isAskedAgain = true;
      return this.#looking;
    }
    this.#looking = this.#lookAll();
    try {
      await this.#looking;
    } finally {
      this.#looking = undefined;
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#byKey.clear();
    this.#stopTimer();
  }

  #begin(file: TextFile): Watched {
    const watched: Watched = {
      file,
      listeners: new Set(),
      stamp: '',
      outcome: { reason: 'not readable' },
      begun: this.#firstRead(file).then(({ stamp, outcome }) => {
        Object.assign(watched, { stamp, outcome });
      }),
    };
    return watched;
  }

  async #firstRead(file: TextFile): Promise<FileRead & { readonly outcome: FileOutcome }> {
    for (let turn = 0; turn < FIRST_READS; turn += 1) {
      const { outcome, stamp } = await readTextFile(file, this.#access);
      if (outcome) return { outcome, stamp };
    }
    return { outcome: { reason: 'not readable' }, stamp: '' };
  }

  async #lookAll(): Promise<void> {
    do {
      this.#isAskedAgain = false;
      const waiting = [...this.#byKey.values()].values();
      let isUnsettled = false;
      const work = async (): Promise<void> => {
        for (const watched of waiting) isUnsettled = !(await this.#lookAt(watched)) || isUnsettled;
      };
      try {
        await Promise.all(Array.from({ length: AT_A_TIME }, work));
      } finally {
        this.#startTimer(isUnsettled ? SETTLE_MS : LOOK_MS);
      }
    } while (this.#isAskedAgain);
  }

  /** False for a file that is to be looked at again soon. */
  async #lookAt(watched: Watched): Promise<boolean> {
    await watched.begun;
    const { stamp, ageMs } = await this.#glance(watched.file.path);
    if (stamp === watched.stamp && 'text' in watched.outcome) return true;
    if (stamp !== watched.stamp && ageMs >= 0 && ageMs < SETTLE_MS) return false;
    const { outcome, stamp: read } = await readTextFile(watched.file, this.#access);
    if (!outcome) return false;
    watched.stamp = read;
    watched.outcome = outcome;
    for (const listener of watched.listeners) listener(outcome);
    return true;
  }

  /** The file as it stands, and how long ago its text was changed by the clock of this machine. */
  async #glance(path: string): Promise<{ readonly stamp: string; readonly ageMs: number }> {
    try {
      const stats = await this.#access.stat(path);
      return { stamp: stampOf(stats), ageMs: this.#clock.now() - Number(stats.mtimeNs / 1_000_000n) };
    } catch (error) {
      return { stamp: faultStamp(error), ageMs: Infinity };
    }
  }

  #startTimer(ms?: number): void {
    if (this.#isClosed || this.#byKey.size === 0 || (this.#timer && ms === undefined)) return;
    this.#timer?.cancel();
    this.#timer = this.#clock.timer(ms ?? LOOK_MS, () => {
      this.#timer = undefined;
      void this.look();
    });
  }

  #stopTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
