import { hash } from 'node:crypto';
import type { SharedState } from '../contract/index.ts';
import type { Clock } from '../common/clock.ts';
import { type Buckets, createBuckets } from './buckets.ts';
import { Recent } from './recent.ts';

const MAX_KEYS = 100_000;
/** Groups of buckets: configurations come and go, and nothing shows which groups no plugin uses any more. */
const MAX_GROUPS = 64;
/** Of all values together, and of one. */
const MAX_VALUE_BYTES = 64 * 1024 * 1024;
const MAX_ONE_VALUE_BYTES = 8 * 1024 * 1024;
const NUMBER_TTL_MS = 31 * 24 * 60 * 60 * 1000;
/** Characters; longer keys, which may hold what a client sent, are kept as their beginning and a digest. */
const MAX_KEY = 256;

/** Shared state of a single process. Replicas that must agree need a store behind the same interface. */
export function createMemoryState(clock: Clock): SharedState {
  const groups = new Recent<Buckets>({ maxKeys: MAX_GROUPS });
  const bucketsOf = (group = ''): Buckets => {
    const known = groups.get(group, 0);
    const buckets = known ?? createBuckets(MAX_KEYS);
    if (!known) groups.set(group, buckets, 0, Number.POSITIVE_INFINITY);
    return buckets;
  };
  const numbers = new Recent<number>({ maxKeys: MAX_KEYS });
  const values = new Recent<string>({ maxKeys: MAX_KEYS, maxBytes: MAX_VALUE_BYTES });

  return {
    take: async (key, spec, cost, floor) => bucketsOf(spec.group).take(shortKey(key), spec, clock.monotonic(), cost, floor),
    add: async (key, by, ttlMs = NUMBER_TTL_MS) => {
      if (!Number.isFinite(by)) throw new Error(`${by} cannot be added to a shared number`);
      const now = clock.now();
      const short = shortKey(key);
      const sum = (numbers.get(short, now) ?? 0) + by;
      numbers.set(short, sum, 0, now + ttlMs);
      return sum;
    },
    get: async (key) => values.get(shortKey(key), clock.now()),
    set: async (key, value, ttlMs) => {
      const short = shortKey(key);
      const bytes = Buffer.byteLength(value);
      if (bytes > MAX_ONE_VALUE_BYTES) values.delete(short);
      else values.set(short, value, bytes + short.length, clock.now() + ttlMs);
    },
    delete: async (key) => {
      numbers.delete(shortKey(key));
      values.delete(shortKey(key));
    },
  };
}

function shortKey(key: string): string {
  return key.length <= MAX_KEY ? key : `${key.slice(0, MAX_KEY)}${hash('sha256', key)}`;
}
