import type { Counters, Log, Prices } from '../contract/index.ts';
import type { Clock } from '../clock.ts';
import type { Transport } from '../upstream/transport.ts';

/** What the pipeline needs from the process, the same for every request. */
export interface PipelineServices {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: Log;
  readonly counters: Counters;
  readonly transport: Transport;
  readonly prices: Prices;
  /** Milliseconds of silence that end a stream. */
  readonly streamIdleMs: number;
}
