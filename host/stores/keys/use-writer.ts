import type { Timer } from '../../common/clock.ts';
import { type KeyRecord, recordOf, type StoredKey } from './key-record.ts';
import type { KeyRepository } from './key-repository.ts';
import type { StoreDeps } from '../store-deps.ts';
import type { StoreLink } from '../store-link.ts';
import { UseCounts } from './use-counts.ts';
import { writeRows } from '../write-rows.ts';

/** Uses are written together, this many milliseconds after the first of them. */
const WRITE_BEHIND_MS = 1000;

export interface UseWriterDeps extends Pick<StoreDeps, 'clock' | 'log'> {
  readonly link: StoreLink;
  readonly repository: () => KeyRepository;
}

/** Counts the uses of keys in memory, and writes them behind. What cannot be written stays counted, and is shown all the same. */
export class UseWriter {
  readonly #counts = new UseCounts();
  readonly #deps: UseWriterDeps;
  #writing: Promise<void> = Promise.resolve();
  #due: Timer | undefined;
  #isBehind = false;
  #isClosed = false;

  constructor(deps: UseWriterDeps) {
    this.#deps = deps;
  }

  count(id: string): void {
    this.#counts.count(id, this.#deps.clock.now());
    if (!this.#due) this.#writeSoon();
  }

  flush(): Promise<void> {
    return (this.#writing = this.#writing.then(() => this.#write()));
  }

  /** Writes what is counted; what is counted later is written by `flush` alone. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#due?.cancel();
    await this.flush();
  }

  /** A key as people see it, with the uses that were not sent to the store yet. */
  shown(key: StoredKey): KeyRecord {
    const pending = this.#counts.of(key.id);
    const record = recordOf(key);
    return pending
      ? {
          ...record,
          usageCount: key.usageCount + pending.count,
          lastUsedAt: Math.max(key.lastUsedAt ?? pending.at, pending.at),
        }
      : record;
  }

  #writeSoon(): void {
    if (this.#isClosed) return;
    this.#due = this.#deps.clock.timer(WRITE_BEHIND_MS, () => {
      this.#due = undefined;
      void this.flush();
    });
  }

  async #write(): Promise<void> {
    if (this.#counts.isEmpty) return;
    const { link, repository, log } = this.#deps;
    const unwritten = await writeRows(this.#counts.take(), {
      write: (uses) => link.ask(() => repository().addUses(uses)),
      refused: ({ id, count }, fault) => link.refused({ api_key_id: id, uses: count }, fault),
    });
    const wasBehind = this.#isBehind;
    this.#isBehind = unwritten !== undefined;
    if (!unwritten) return;
    const { rows, error } = unwritten;
    this.#counts.giveBack(rows);
    if (!wasBehind)
      log.warn('uses of keys cannot be written, they are counted in memory', { keys: rows.length, error });
    if (!this.#due) this.#writeSoon();
  }
}
