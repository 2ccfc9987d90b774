import type { BucketSpec } from '../contract/index.ts';

interface Bucket {
  tokens: number;
  at: number;
}

export interface Taken {
  readonly taken: boolean;
  /** Milliseconds until the bucket holds enough; 0 when taken. */
  readonly retryAfterMs: number;
}

export interface Buckets {
  /** Takes `cost` tokens when the bucket holds at least `floor`. Debits may leave it below zero. */
  take(key: string, spec: BucketSpec, now: number, cost?: number, floor?: number): Taken;
  /** From now on it holds so many tokens, whatever was there. */
  put(key: string, tokens: number, now: number): void;
  /** What it holds now; looking is not a use. */
  level(key: string, spec: BucketSpec, now: number): number;
  readonly size: number;
}

/**
 * Token buckets by key, in memory. A bucket starts full and refills continuously. At `maxKeys` the least recently used
 * hundredth makes room, so that a flood of new keys costs an eviction every now and then and not one each.
 */
export function createBuckets(maxKeys: number): Buckets {
  const buckets = new Map<string, Bucket>(); // in order of use

  const evict = (): void => {
    let left = Math.max(1, Math.floor(maxKeys / 100));
    for (const key of buckets.keys()) {
      buckets.delete(key);
      left -= 1;
      if (left === 0) return;
    }
  };

  return {
    take: (key, { ratePerSecond, burst }, now, cost = 1, floor = cost) => {
      const known = buckets.get(key);
      if (known) buckets.delete(key);
      else if (buckets.size >= maxKeys) evict();
      const bucket = known ?? { tokens: burst, at: now };
      buckets.set(key, bucket);
      bucket.tokens = Math.min(burst, bucket.tokens + (Math.max(0, now - bucket.at) / 1000) * ratePerSecond);
      bucket.at = now;
      if (bucket.tokens < floor)
        return { taken: false, retryAfterMs: ((floor - bucket.tokens) / ratePerSecond) * 1000 };
      bucket.tokens -= cost;
      return { taken: true, retryAfterMs: 0 };
    },
    put: (key, tokens, now) => {
      if (!buckets.delete(key) && buckets.size >= maxKeys) evict();
      buckets.set(key, { tokens, at: now });
    },
    level: (key, { ratePerSecond, burst }, now) => {
      const known = buckets.get(key);
      return known ? Math.min(burst, known.tokens + (Math.max(0, now - known.at) / 1000) * ratePerSecond) : burst;
    },
    get size() {
      return buckets.size;
    },
  };
}
