import type { GatewayError, Log } from '../contract/index.ts';
import type { Generation } from './generation.ts';

/** A request's hold on the generation it started on. */
export interface Lease {
  readonly generation: Generation;
  /** Set by the holder: called when the lease must end now. */
  onEnd: ((cause: GatewayError) => void) | undefined;
  release(): void;
}

interface Held {
  readonly generation: Generation;
  readonly leases: LeaseList;
  isRetired: boolean;
}

/**
 * Leases in an array, each knowing its place. A `Set` here costs a third of a request's time: the tables that it leaves behind when it grows keep
 * each other alive until they are old, and with them every exchange they ever held.
 */
class LeaseList {
  readonly #leases: HeldLease[] = [];

  get size(): number {
    return this.#leases.length;
  }

  add(lease: HeldLease): void {
    lease.at = this.#leases.length;
    this.#leases.push(lease);
  }

  /** False for one that was taken out before. */
  remove(lease: HeldLease): boolean {
    const last = this.#leases.at(-1);
    if (lease.at < 0 || !last) return false;
    this.#leases[lease.at] = last;
    last.at = lease.at;
    lease.at = -1;
    this.#leases.pop();
    return true;
  }

  all(): readonly Lease[] {
    return [...this.#leases];
  }
}

class HeldLease implements Lease {
  onEnd: ((cause: GatewayError) => void) | undefined;
  /** Its place in the list; negative once it is out. */
  at = -1;
  readonly #held: Held;
  readonly #onRelease: (held: Held) => void;

  constructor(held: Held, onRelease: (held: Held) => void) {
    this.#held = held;
    this.#onRelease = onRelease;
    held.leases.add(this);
  }

  get generation(): Generation {
    return this.#held.generation;
  }

  release(): void {
    if (this.#held.leases.remove(this)) this.#onRelease(this.#held);
  }
}

/** Holds the generation that serves, and those that are being left. */
export class Slot {
  readonly #log: Log;
  readonly #live = new Set<Held>();
  readonly #disposals = new Set<Promise<void>>();
  #current: Held | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  get current(): Generation | undefined {
    return this.#current?.generation;
  }

  /** Generations that still live, the current one included. */
  get live(): number {
    return this.#live.size;
  }

  /** Requests in flight, over all generations. */
  get leases(): number {
    return this.#live.values().reduce((sum, { leases }) => sum + leases.size, 0);
  }

  lease(): Lease | undefined {
    const held = this.#current;
    return held && new HeldLease(held, this.#disposeIfFree);
  }

  /** Serves new requests with this one; the old one is disposed after its last lease. */
  swap(next: Generation): void {
    const old = this.#current;
    this.#current = { generation: next, leases: new LeaseList(), isRetired: false };
    this.#live.add(this.#current);
    this.#retire(old);
  }

  /** Tells every holder to stop. */
  endAll(cause: GatewayError): void {
    for (const { leases } of this.#live) for (const lease of leases.all()) lease.onEnd?.(cause);
  }

  /** Retires the current generation as well. */
  async close(): Promise<void> {
    const old = this.#current;
    this.#current = undefined;
    this.#retire(old);
    await Promise.all(this.#disposals);
  }

  #retire(held: Held | undefined): void {
    if (!held) return;
    held.isRetired = true;
    this.#disposeIfFree(held);
  }

  readonly #disposeIfFree = (held: Held): void => {
    if (!held.isRetired || held.leases.size > 0 || !this.#live.delete(held)) return;
    const disposal = held.generation
      .dispose()
      .catch((error: unknown) =>
        this.#log.error('a configuration could not be closed', { generation: held.generation.number, error }),
      )
      .finally(() => this.#disposals.delete(disposal));
    this.#disposals.add(disposal);
  };
}
