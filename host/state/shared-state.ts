import { hash } from 'node:crypto';
import type { SharedState } from '../contract/index.ts';
import type { Clock } from '../common/clock.ts';
import { GroupedBuckets } from './grouped-buckets.ts';
import { Recent } from './recent.ts';

const MAX_KEYS = 100_000;
/** Bytes of all values together, and of one. */
const MAX_VALUE_BYTES = 64 * 1024 * 1024;
const MAX_ONE_VALUE_BYTES = 8 * 1024 * 1024;
const NUMBER_TTL_MS = 31 * 24 * 60 * 60 * 1000;
/** Characters; longer keys, which may hold what a client sent, are kept as their beginning and a digest. */
const MAX_KEY = 256;

/** Shared state of a single process. Replicas that must agree need a store behind the same interface. */
export function createMemoryState(clock: Clock): SharedState {
  const buckets = new GroupedBuckets();
  const numbers = new Recent<number>({ maxKeys: MAX_KEYS });
  const values = new Recent<Uint8Array>({ maxKeys: MAX_KEYS, maxBytes: MAX_VALUE_BYTES });

  return {
    take: async (key, spec, cost, floor) =>
      buckets.of(spec.group).take(shortKey(key), spec, clock.monotonic(), cost, floor),
    add: async (key, by, ttlMs = NUMBER_TTL_MS) => {
      if (!Number.isFinite(by)) throw new Error(`${by} cannot be added to a shared number`);
      const now = clock.now();
      const short = shortKey(key);
      const sum = (numbers.get(short, now) ?? 0) + by;
      numbers.set(short, sum, 0, now + ttlMs);
      return sum;
    },
    get: async (key) => {
      const found = values.get(shortKey(key), clock.now());
      return found && Buffer.from(found);
    },
    set: async (key, value, ttlMs) => {
      refuseNoBytes(value);
      const short = shortKey(key);
      const size = Buffer.byteLength(value);
      if (size > MAX_ONE_VALUE_BYTES) values.delete(short);
      else values.set(short, ownBytes(value, size), size + short.length, clock.now() + ttlMs);
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

/** Throws for what a module without types may pass for a value. */
export function refuseNoBytes(value: unknown): void {
  if (typeof value !== 'string' && !(value instanceof Uint8Array))
    throw new TypeError('a shared value must be a Uint8Array or a string');
}

/** In memory of its own: a piece of a larger buffer, or of a larger string, would keep all of that alive. */
function ownBytes(value: Uint8Array | string, size: number): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(size);
  if (typeof value === 'string') bytes.write(value);
  else bytes.set(value);
  return bytes;
}
