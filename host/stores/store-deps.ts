import type { Log } from '../contract/index.ts';
import type { Clock } from '../common/clock.ts';
import type { StoresEnd } from './stores-end.ts';
import type { Redactor } from '../log/redact.ts';

/** What of a store may be another by now. */
export type ChangedThing = 'key' | 'session' | 'account';

/** Tells the other processes of this gateway that something is another by now, without an id that anything may be. Resolves once none of them goes by what it knew. */
export type Spread = (what: ChangedThing, id: string | undefined) => Promise<void>;

/** What the stores need of the host. */
export interface StoreDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly redactor: Redactor;
  /** That many random bytes, which cannot be predicted. */
  readonly randomBytes: (size: number) => Buffer;
  /** Where this gateway has several processes, and this one owns the stores. */
  readonly spread?: Spread | undefined;
  /** When the process ends, its stores are given up together. */
  readonly end?: StoresEnd | undefined;
}
