import type { SharedState } from '../contract/index.ts';
import type { Clock } from '../clock.ts';
import { createBuckets } from './buckets.ts';

const MAX_KEYS = 100_000;

/** Shared state of a single process. Replicas that must agree need a store behind the same interface. */
export function createMemoryState(clock: Clock): SharedState {
  const buckets = createBuckets(MAX_KEYS);
  const numbers = new Map<string, number>();
  const values = new Map<string, { readonly value: string; readonly until: number }>();

  const forgetOldest = (map: Map<string, unknown>): void => {
    const [oldest] = map.keys();
    if (map.size > MAX_KEYS && oldest !== undefined) map.delete(oldest);
  };

  return {
    take: async (key, spec, cost, floor) => buckets.take(key, spec, clock.monotonic(), cost, floor),
    add: async (key, by) => {
      const sum = (numbers.get(key) ?? 0) + by;
      numbers.set(key, sum);
      forgetOldest(numbers);
      return sum;
    },
    get: async (key) => {
      const found = values.get(key);
      if (found && found.until > clock.now()) return found.value;
      values.delete(key);
      return undefined;
    },
    set: async (key, value, ttlMs) => {
      values.delete(key);
      values.set(key, { value, until: clock.now() + ttlMs });
      forgetOldest(values);
    },
    delete: async (key) => {
      numbers.delete(key);
      values.delete(key);
    },
  };
}
