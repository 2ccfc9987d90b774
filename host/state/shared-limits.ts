import type { BucketSpec } from '../contract/index.ts';

/** A bucket, and what is taken from it. */
export interface Ask {
  readonly key: string;
  readonly spec: BucketSpec;
  /** 0 looks only. */
  readonly cost: number;
  /** Tokens that must be there. */
  readonly floor: number;
}

export interface AllTaken {
  /** Where in the asks the first one stands that was refused; `undefined` when all were taken. */
  readonly refusedAt: number | undefined;
  /** Milliseconds until that bucket holds enough; 0 when all were taken. */
  readonly retryAfterMs: number;
  /** What the buckets hold now, in the order of the asks. */
  readonly levels: readonly number[];
}

/** Buckets that several processes take from. */
export interface SharedLimits {
  /** Takes from all of them, or from none. Rejects while the store does not answer. */
  takeAll(asks: readonly Ask[]): Promise<AllTaken>;
  /** Whether it answered when this process last said that it lives. */
  readonly isUp: boolean;
  /** Processes that take from them, this one too, as they were last counted. */
  readonly replicas: number;
}
