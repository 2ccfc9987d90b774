import type { Carryover } from '../contract/index.ts';

interface Kept {
  readonly value: unknown;
  readonly dispose: (() => void) | undefined;
  holders: number;
}

/** What must outlive a configuration change, by key, for as long as some generation holds the key. */
export interface CarryoverStore {
  /** The view of one generation; its leases end together. */
  open(): Carryover & { release(): void };
  readonly size: number;
}

export function createCarryover(): CarryoverStore {
  const kept = new Map<string, Kept>();

  const take = <T>(key: string, create: () => T, dispose?: (value: T) => void): T => {
    const found = kept.get(key);
    if (found) {
      found.holders += 1;
      return found.value as T;
    }
    const value = create();
    kept.set(key, { value, dispose: dispose && (() => dispose(value)), holders: 1 });
    return value;
  };

  const giveBack = (key: string): void => {
    const found = kept.get(key);
    if (!found) return;
    found.holders -= 1;
    if (found.holders > 0) return;
    kept.delete(key);
    found.dispose?.();
  };

  return {
    open: () => {
      const leased = new Map<string, unknown>();
      return {
        lease: <T>(key: string, create: () => T, dispose?: (value: T) => void): T => {
          if (!leased.has(key)) leased.set(key, take(key, create, dispose));
          return leased.get(key) as T;
        },
        release: () => {
          for (const key of leased.keys()) giveBack(key);
          leased.clear();
        },
      };
    },
    get size() {
      return kept.size;
    },
  };
}
