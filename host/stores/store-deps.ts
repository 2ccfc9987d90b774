import type { Log } from '../contract/index.ts';
import type { Clock } from '../common/clock.ts';
import type { Redactor } from '../log/redact.ts';

/** What the stores need of the host. */
export interface StoreDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly redactor: Redactor;
  /** As many bytes, that nobody can foresee. */
  readonly randomBytes: (size: number) => Buffer;
}
