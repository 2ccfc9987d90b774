import type { Log } from '../contract/index.ts';
import type { Clock } from '../common/clock.ts';
import type { Redactor } from '../log/redact.ts';

/** What the stores need of the host. */
export interface StoreDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly redactor: Redactor;
  /** That many random bytes, which cannot be predicted. */
  readonly randomBytes: (size: number) => Buffer;
  /** As `StoreLink` takes it. */
  readonly leftMs?: (() => number) | undefined;
}
