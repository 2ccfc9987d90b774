import type { Timer } from '../../common/clock.ts';
import { type KeyRecord, recordOf, type StoredKey } from './key-record.ts';
import type { KeyRepository, Uses } from './key-repository.ts';
import type { StoreDeps } from '../store-deps.ts';
import type { StoreLink } from '../store-link.ts';
import { UseCounts } from './use-counts.ts';
import { inParts, RowWriter } from '../write-rows.ts';

/** Uses are written together, this many milliseconds after the first of them. */
const WRITE_BEHIND_MS = 1000;
/** Keys whose uses are one write. */
const BATCH = 500;

export interface UseWriterDeps extends Pick<StoreDeps, 'clock' | 'log'> {
  readonly link: StoreLink;
  readonly repository: () => KeyRepository;
}

/** Counts the uses of keys in memory, and writes them behind. What cannot be written stays counted, and is shown all the same. */
export class UseWriter {
  readonly #counts = new UseCounts();
  readonly #deps: UseWriterDeps;
  readonly #rows: RowWriter<Uses>;
  /** Those of the last write that failed, by key. */
  #unwritten: ReadonlyMap<string, Uses> = new Map();
  #writing: Promise<void> = Promise.resolve();
  #due: Timer | undefined;
  #isClosed = false;

  constructor(deps: UseWriterDeps) {
    this.#deps = deps;
    const { link, repository } = deps;
    this.#rows = new RowWriter({
      write: (uses, number) => link.ask(() => repository().addUses(uses, number)),
      refused: ({ id, count }, fault) => link.refused({ api_key_id: id, uses: count }, fault),
      cut: (uses) => inParts(uses, BATCH),
    });
  }

  /** `at` in Unix milliseconds: now unless said. */
  count(id: string, at: number = this.#deps.clock.now(), uses = 1): void {
    this.#counts.count(id, at, uses);
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
    const { size } = this.#unwritten;
    if (size > 0) this.#deps.log.error('uses of keys are lost: their store did not come back', { keys: size });
  }

  /** A key as people see it, with the uses that its store is not known to have. */
  shown(key: StoredKey): KeyRecord {
    return plus(plus(recordOf(key, this.#deps.clock.now()), this.#unwritten.get(key.id)), this.#counts.of(key.id));
  }

  #writeSoon(): void {
    if (this.#isClosed) return;
    this.#due = this.#deps.clock.timer(WRITE_BEHIND_MS, () => {
      this.#due = undefined;
      void this.flush();
    });
  }

  async #write(): Promise<void> {
    if (this.#counts.isEmpty && !this.#rows.holdsAny) return;
    const wasBehind = this.#rows.holdsAny;
    const unwritten =
      (wasBehind ? await this.#rows.write([]) : undefined) ?? (await this.#rows.write(this.#counts.take()));
    const { held } = this.#rows;
    this.#unwritten = new Map(held.map((uses) => [uses.id, uses]));
    if (!unwritten) return;
    if (!wasBehind)
      this.#deps.log.warn('uses of keys cannot be written, they are counted in memory', {
        keys: held.length,
        error: unwritten.error,
      });
    if (!this.#due) this.#writeSoon();
  }
}

function plus(record: KeyRecord, uses: Omit<Uses, 'id'> | undefined): KeyRecord {
  if (!uses) return record;
  const { count, at } = uses;
  return { ...record, usageCount: record.usageCount + count, lastUsedAt: Math.max(record.lastUsedAt ?? at, at) };
}
