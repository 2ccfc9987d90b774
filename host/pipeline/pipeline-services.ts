import type { RequestTrace } from '../boundary/module-log.ts';
import type { Log } from '../contract/index.ts';
import type { Catalog } from '../common/catalog.ts';
import type { ClosingTime } from '../common/close-all.ts';
import type { Clock } from '../common/clock.ts';
import type { RelayedBytes } from '../common/relayed-bytes.ts';
import type { Redactor } from '../log/redact.ts';
import type { CounterHub } from '../state/counters.ts';
import type { Transport } from '../upstream/transport.ts';

/** What the pipeline needs from the process, the same for every request. */
export interface PipelineServices {
  readonly clock: Clock;
  readonly closing: ClosingTime;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: Log;
  readonly counters: CounterHub;
  readonly redactor: Redactor;
  readonly transport: Transport;
  /** Hears of all bytes that are sent on as they arrive. */
  readonly relayed: RelayedBytes;
  /** What runs of third-party modules. */
  readonly trace: RequestTrace;
  /** Replaced when the catalog has been loaded, and by each refresh. */
  catalog: Catalog;
  /** Milliseconds of silence that end a stream. */
  readonly streamIdleMs: number;
}
