/** How a session was served: for the first time, where it was served before, or elsewhere. */
export type Affinity = 'new' | 'followed' | 'moved';

/** Where a request went among the entries of `providers` and `models`, and what its vendor's cache saved. */
export interface Placement {
  /** Kind of the provider last tried, of an entry of `providers`. */
  readonly kind: string | undefined;
  /** Name of the credential last used, of an entry of `providers`. */
  readonly credential: string | undefined;
  /** Name of the group of models whose route was tried last, as written: `oss/*`. */
  readonly group: string | undefined;
  /** Whether the session stayed where it was; `undefined` without affinity, and for failures. */
  readonly affinity: Affinity | undefined;
  /** US dollars that the cache saved, negative where writing to it cost more; `undefined` without prices. */
  readonly cacheSavedUsd: number | undefined;
}
