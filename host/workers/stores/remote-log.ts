import type { Timer } from '../../common/clock.ts';
import type { RequestLog, RequestLogRow, Stage } from '../../contract/index.ts';
import type { Redactor } from '../../log/redact.ts';
import type { Clock } from '../../common/clock.ts';
import { givenRow } from '../../stores/log/log-row.ts';
import type { GivenRow } from '../../stores/log/row-values.ts';
import type { Channel } from '../channel.ts';

/** Rows that wait for the channel at most. */
const MOST_WAITING = 2000;
/** Rows go together: this long after the first of them, or as soon as there are this many. */
const SEND_BEHIND_MS = 100;
const BATCH = 500;

/** A row as it travels. */
export interface TravellingRow {
  readonly row: GivenRow;
  readonly annotates: Stage | undefined;
}

export const ROWS = 'rows';

export interface RemoteLogDeps {
  readonly channel: Channel;
  readonly redactor: Redactor;
  readonly clock: Clock;
  /** Rows were lost: too many wait. */
  readonly dropped: (rows: number) => void;
}

/** The request log of the primary. Rows travel behind the answers, and are dropped where the channel takes no more, as a full queue drops them. */
export class RemoteLog implements RequestLog {
  readonly #deps: RemoteLogDeps;
  #waiting: TravellingRow[] = [];
  #timer: Timer | undefined;

  constructor(deps: RemoteLogDeps) {
    this.#deps = deps;
  }

  append(row: RequestLogRow): void {
    this.#add({ row: givenRow(row, this.#deps.redactor), annotates: undefined });
  }

  annotate(stage: Stage, row: RequestLogRow): void {
    this.#add({ row: givenRow(row, this.#deps.redactor), annotates: stage });
  }

  /** Sends what waits, however busy the channel is. */
  flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#waiting.length === 0) return;
    this.#deps.channel.tell(ROWS, this.#waiting);
    this.#waiting = [];
  }

  #add(row: TravellingRow): void {
    if (this.#waiting.length >= MOST_WAITING) {
      this.#deps.dropped(1);
      return;
    }
    this.#waiting.push(row);
    if (this.#waiting.length >= BATCH) this.#send();
    else this.#sendLater();
  }

  #send(): void {
    if (this.#deps.channel.isBusy) this.#sendLater();
    else this.flush();
  }

  #sendLater(): void {
    this.#timer ??= this.#deps.clock.timer(SEND_BEHIND_MS, () => {
      this.#timer = undefined;
      this.#send();
    });
  }
}
