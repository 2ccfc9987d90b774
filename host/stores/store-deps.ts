import type { Log } from '../contract/index.ts';
import type { Clock } from '../common/clock.ts';
import type { StoresEnd } from './stores-end.ts';
import type { Redactor } from '../log/redact.ts';

/** What the stores need of the host. */
export interface StoreDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly redactor: Redactor;
  /** That many random bytes, which cannot be predicted. */
  readonly randomBytes: (size: number) => Buffer;
  /** When the process ends, its stores are given up together. */
  readonly end?: StoresEnd | undefined;
}
