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
  return new KeyedCarryover();
}

class KeyedCarryover implements CarryoverStore {
  readonly #kept = new Map<string, Kept>();

  get size(): number {
    return this.#kept.size;
  }

  open(): Carryover & { release(): void } {
    const leased = new Map<string, unknown>();
    return {
      lease: <T>(key: string, create: () => T, dispose?: (value: T) => void): T => {
        if (!leased.has(key)) leased.set(key, this.#take(key, create, dispose));
        return leased.get(key) as T;
      },
      release: () => {
        for (const key of leased.keys()) this.#giveBack(key);
        leased.clear();
      },
    };
  }

  #take<T>(key: string, create: () => T, dispose?: (value: T) => void): T {
    const found = this.#kept.get(key);
    if (found) {
      found.holders += 1;
      return found.value as T;
    }
    const value = create();
    this.#kept.set(key, { value, dispose: dispose && (() => dispose(value)), holders: 1 });
    return value;
  }

  #giveBack(key: string): void {
    const found = this.#kept.get(key);
    if (!found) return;
    found.holders -= 1;
    if (found.holders > 0) return;
    this.#kept.delete(key);
    found.dispose?.();
  }
}
