import type { Clock, Timer } from '../../common/clock.ts';
import type { Log } from '../../contract/index.ts';
import type { StoredKey } from './key-record.ts';

/** A value that the store may have, and that was never given to who asked for it. */
export interface Doubt {
  /** The key's. */
  readonly id: string;
  /** The value's, as `StoredKey` has it. */
  readonly digest: string;
  /** The key as it was before a rotation; `undefined` where it was made. */
  readonly before: StoredKey | undefined;
}

/** What was mended, as the audit trail names it. */
export interface Mended {
  readonly action: 'key.create' | 'key.rotate';
  readonly id: string;
}

export interface DoubtsDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Whether there was something to mend. Throws while the store does not answer. */
  readonly mend: (doubt: Doubt) => Promise<boolean>;
  readonly mended?: (what: Mended) => void;
}

interface Kept extends Doubt {
  /** Monotonic milliseconds. */
  readonly since: number;
}

/** Doubts that are remembered: the newest. */
const MOST = 1000;
const KEPT_MS = 24 * 60 * 60 * 1000;
/** Milliseconds between two tries. */
const AGAIN_MS = 5000;

/**
 * Values of keys that were given to no one, though the store may have them (docs/stores.md#changes-in-doubt). Once the store answers, a key that was made
 * is deleted, and a rotation undone: a key must not lose its only value for an answer that was lost.
 */
export class Doubts {
  readonly #deps: DoubtsDeps;
  #kept: readonly Kept[] = [];
  #next: Timer | undefined;
  #mending: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(deps: DoubtsDeps) {
    this.#deps = deps;
  }

  add(doubt: Doubt): void {
    this.#kept = [...this.#kept, { ...doubt, since: this.#deps.clock.monotonic() }].slice(-MOST);
    this.#tryLater();
  }

  /** Tries once more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#next?.cancel();
    await this.#mending;
    await this.#mendAll();
    if (this.#kept.length > 0)
      this.#deps.log.error('changes of keys are left in doubt: their store did not come back', {
        api_key_ids: this.#kept.map(({ id }) => id).join(', '),
      });
  }

  #tryLater(): void {
    if (this.#isClosed || this.#kept.length === 0) return;
    this.#next ??= this.#deps.clock.timer(AGAIN_MS, () => {
      this.#mending = this.#mendAll().finally(() => {
        this.#next = undefined;
        this.#tryLater();
      });
    });
  }

  async #mendAll(): Promise<void> {
    const since = this.#deps.clock.monotonic() - KEPT_MS;
    this.#kept = this.#kept.filter((doubt) => doubt.since > since);
    // The newest first: what it goes back to may be in doubt too.
    for (const doubt of this.#kept.toReversed()) {
      try {
        if (await this.#deps.mend(doubt)) this.#tell(doubt);
      } catch {
        return; // the link has logged it
      }
      this.#kept = this.#kept.filter((other) => other !== doubt);
    }
  }

  #tell({ id, before }: Doubt): void {
    const action = before ? 'key.rotate' : 'key.create';
    this.#deps.log.warn('a doubt was mended', { api_key_id: id, action });
    this.#deps.mended?.({ action, id });
  }
}
