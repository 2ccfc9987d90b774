import type { GatewayError, Log } from '../contract/index.ts';
import type { Generation } from './generation.ts';

/** A request's hold on the generation it started on. */
export interface Lease {
  readonly generation: Generation;
  /** Set by the holder: called when the lease must end now. */
  onEnd: ((cause: GatewayError) => void) | undefined;
  release(): void;
}

/** Holds the generation that serves, and those that are being left. */
export interface Slot {
  readonly current: Generation | undefined;
  /** Generations that still live, the current one included. */
  readonly live: number;
  /** Requests in flight, over all generations. */
  readonly leases: number;
  lease(): Lease | undefined;
  /** Serves new requests with this one; the old one is disposed after its last lease. */
  swap(next: Generation): void;
  /** Resolves once no lease is left. */
  idle(): Promise<void>;
  /** Tells every holder to stop. */
  endAll(cause: GatewayError): void;
  /** Retires the current generation as well. */
  close(): Promise<void>;
}

interface Held {
  readonly generation: Generation;
  readonly leases: LeaseList;
  isRetired: boolean;
}

/**
 * Leases in an array, each knowing its place. A `Set` here costs a third of a request's time: its outgrown tables keep
 * each other alive until they are old, and with them every exchange they ever held.
 */
class LeaseList {
  readonly #leases: { lease: Lease; at: number }[] = [];

  get size(): number {
    return this.#leases.length;
  }

  /** Adds a lease; the returned function takes it out, and says whether it was still there. */
  add(lease: Lease): () => boolean {
    const entry = { lease, at: this.#leases.length };
    this.#leases.push(entry);
    return () => {
      const last = this.#leases.at(-1);
      if (entry.at < 0 || !last) return false;
      this.#leases[entry.at] = last;
      last.at = entry.at;
      entry.at = -1;
      this.#leases.pop();
      return true;
    };
  }

  all(): readonly Lease[] {
    return this.#leases.map(({ lease }) => lease);
  }
}

export function createSlot(log: Log): Slot {
  const live = new Set<Held>();
  const disposals = new Set<Promise<void>>();
  let current: Held | undefined;
  let waiters: (() => void)[] = [];

  const count = (): number => live.values().reduce((sum, { leases }) => sum + leases.size, 0);

  const disposeIfFree = (held: Held): void => {
    if (!held.isRetired || held.leases.size > 0 || !live.delete(held)) return;
    const disposal = held.generation.dispose()
      .catch((error: unknown) => log.error('a configuration could not be closed', { generation: held.generation.number, error }))
      .finally(() => disposals.delete(disposal));
    disposals.add(disposal);
  };

  const retire = (held: Held | undefined): void => {
    if (!held) return;
    held.isRetired = true;
    disposeIfFree(held);
  };

  const released = (held: Held): void => {
    disposeIfFree(held);
    if (waiters.length === 0 || count() > 0) return;
    const ready = waiters;
    waiters = [];
    for (const waiter of ready) waiter();
  };

  return {
    get current() {
      return current?.generation;
    },
    get live() {
      return live.size;
    },
    get leases() {
      return count();
    },
    lease: () => {
      if (!current) return undefined;
      const held = current;
      const lease: Lease = { generation: held.generation, onEnd: undefined, release: () => { if (takeOut()) released(held); } };
      const takeOut = held.leases.add(lease);
      return lease;
    },
    swap: (next) => {
      const old = current;
      current = { generation: next, leases: new LeaseList(), isRetired: false };
      live.add(current);
      retire(old);
    },
    idle: () => (count() === 0 ? Promise.resolve() : new Promise((resolve) => { waiters.push(resolve); })),
    endAll: (cause) => {
      for (const { leases } of live) for (const lease of leases.all()) lease.onEnd?.(cause);
    },
    close: async () => {
      const old = current;
      current = undefined;
      retire(old);
      await Promise.all(disposals);
    },
  };
}
