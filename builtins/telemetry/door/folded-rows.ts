import type { Log, RequestLogRow } from '../../../host/contract/index.ts';
import type { Clock, Timer } from '../../../host/common/clock.ts';
import { OncePer } from '../../../host/common/once-per.ts';
import { createBuckets } from '../../../host/state/buckets.ts';

/** Refusals of one kind that have a row each: the first fifty, then five a second. */
const OWN_ROWS = { ratePerSecond: 5, burst: 50 } as const;
const MOST_KINDS = 10_000;
/** Kinds whose further refusals are counted at a time, and for how many milliseconds. */
const MOST_FOLDS = 1000;
const FOLD_MS = 1000;
const WARN_MS = 60_000;

export interface FoldedRowsDeps {
  readonly clock: Pick<Clock, 'monotonic' | 'timer'>;
  readonly log: Log;
  readonly write: (row: RequestLogRow) => void;
}

interface Fold {
  readonly row: RequestLogRow;
  repeats: number;
}

/** Rows of refusals, of which a flood becomes a few that say how many they stand for. */
export class FoldedRows {
  readonly #deps: FoldedRowsDeps;
  readonly #own = createBuckets(MOST_KINDS);
  /** By kind, the oldest first. */
  readonly #folds = new Map<string, Fold>();
  readonly #warned = new OncePer(WARN_MS);
  #timer: Timer | undefined;

  constructor(deps: FoldedRowsDeps) {
    this.#deps = deps;
  }

  /** `row` is made only where it is kept. */
  add(kind: string, row: () => RequestLogRow): void {
    const { clock, write } = this.#deps;
    if (this.#own.take(kind, OWN_ROWS, clock.monotonic()).taken) {
      write(row());
      return;
    }
    const fold = this.#folds.get(kind);
    if (fold) fold.repeats += 1;
    else this.#begin(kind, row());
  }

  /** Writes what is counted. */
  flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    for (const fold of this.#folds.values()) this.#write(fold);
    this.#folds.clear();
  }

  #begin(kind: string, row: RequestLogRow): void {
    const [oldest] = this.#folds;
    if (oldest && this.#folds.size >= MOST_FOLDS) {
      this.#folds.delete(oldest[0]);
      this.#write(oldest[1]);
    }
    this.#folds.set(kind, { row, repeats: 0 });
    this.#timer ??= this.#deps.clock.timer(FOLD_MS, () => this.flush());
  }

  #write({ row, repeats }: Fold): void {
    const { clock, log, write } = this.#deps;
    write(repeats === 0 ? row : { ...row, repeats });
    const { api_key_id = '', code, reason } = row;
    if (repeats > 0 && this.#warned.isFirst(api_key_id, clock.monotonic()))
      log.warn('refusals were folded', { api_key_id, code, reason, repeats });
  }
}
