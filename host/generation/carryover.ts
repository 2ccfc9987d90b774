import { closeAll } from '../common/close-all.ts';
import type { Carryover } from '../contract/index.ts';

interface Kept {
  readonly value: unknown;
  readonly dispose: (() => void | Promise<void>) | undefined;
  holders: number;
}

/** The view of one generation. */
export interface CarryoverView extends Carryover {
  /** Ends every lease of the view. What can be disposed is, whatever fails; the failures are thrown at the end. */
  release(): Promise<void>;
}

/** What must outlive a configuration change, by key, for as long as some generation holds the key. */
export class CarryoverStore {
  readonly #kept = new Map<string, Kept>();

  get size(): number {
    return this.#kept.size;
  }

  open(): CarryoverView {
    const leased = new Map<string, unknown>();
    return {
      lease: <T>(key: string, create: () => T, dispose?: (value: T) => void | Promise<void>): T => {
        if (!leased.has(key)) leased.set(key, this.#take(key, create, dispose));
        return leased.get(key) as T;
      },
      release: () => {
        const ended = [...leased.keys()].flatMap((key) => this.#giveBack(key) ?? []);
        leased.clear();
        return closeAll(ended);
      },
    };
  }

  #take<T>(key: string, create: () => T, dispose?: (value: T) => void | Promise<void>): T {
    const found = this.#kept.get(key);
    if (found) {
      found.holders += 1;
      return found.value as T;
    }
    const value = create();
    this.#kept.set(key, { value, dispose: dispose && (() => dispose(value)), holders: 1 });
    return value;
  }

  /** Gives one lease back; after the last one, returns the function that disposes the object. */
  #giveBack(key: string): Kept['dispose'] {
    const found = this.#kept.get(key);
    if (!found) return undefined;
    found.holders -= 1;
    if (found.holders > 0) return undefined;
    this.#kept.delete(key);
    return found.dispose;
  }
}
