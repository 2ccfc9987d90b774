import type { GatewayError } from '../../host/contract/index.ts';
import type { Eventual } from '../../host/pipeline/eventual.ts';
import type { SharedPlaces } from '../../host/state/shared-places.ts';
import type { Cancellation } from '../../host/upstream/cancellation.ts';

export interface SlotLimits {
  /** Calls at a time. */
  readonly maxConcurrency: number;
  /** Calls that may wait for a slot. */
  readonly queueSize: number;
}

/** What counts the calls of one target. */
export interface TargetSlots {
  readonly held: number;
  readonly waiting: number;
  take(limits: SlotLimits, cancellation: Cancellation): Eventual<boolean>;
  giveBack(): void;
}

/**
 * Slots of one target that all processes of a gateway hold together. Calls without a bound are counted here alone; `held` and `waiting` are those of this process.
 */
export class SharedSlots implements TargetSlots {
  readonly #places: SharedPlaces;
  readonly #key: string;
  #shared = 0;
  #free = 0;
  waiting = 0;

  constructor(places: SharedPlaces, key: string) {
    this.#places = places;
    this.#key = key;
  }

  get held(): number {
    return this.#shared + this.#free;
  }

  take({ maxConcurrency, queueSize }: SlotLimits, cancellation: Cancellation): Eventual<boolean> {
    if (maxConcurrency !== Infinity) return this.#wait({ maxConcurrency, queueSize }, cancellation);
    this.#free += 1;
    return true;
  }

  giveBack(): void {
    if (this.#shared > 0) {
      this.#shared -= 1;
      this.#places.giveBack([this.#key]);
    } else this.#free -= 1;
  }

  async #wait({ maxConcurrency: limit, queueSize }: SlotLimits, cancellation: Cancellation): Promise<boolean> {
    this.waiting += 1;
    const isHeld = await this.#places.wait({ key: this.#key, limit, queueSize }, cancellation);
    this.waiting -= 1;
    if (isHeld) this.#shared += 1;
    return isHeld;
  }
}

/**
 * Slots of one target, first come first served. The limits come with each call, so that a new configuration changes them
 * without forgetting who holds a slot.
 */
export class Slots implements TargetSlots {
  #held = 0;
  #waiting: (() => void)[] = [];
  #limit = 0;

  /** Calls that hold a slot. */
  get held(): number {
    return this.#held;
  }

  /** Calls that wait for one. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** True once a slot is held; false when slots and queue are full, or the caller stopped waiting. */
  take({ maxConcurrency, queueSize }: SlotLimits, cancellation: Cancellation): Eventual<boolean> {
    this.#limit = maxConcurrency;
    this.#admit();
    if (this.#waiting.length === 0 && this.#held < maxConcurrency) {
      this.#held += 1;
      return true;
    }
    if (this.#waiting.length >= queueSize) return false;
    return this.#wait(cancellation);
  }

  giveBack(): void {
    this.#held -= 1;
    this.#admit();
  }

  #wait(cancellation: Cancellation): Promise<boolean> {
    return new Promise((resolve) => {
      const enter = (): void => {
        stopListening?.();
        resolve(true);
      };
      this.#waiting.push(enter);
      let stopListening: (() => void) | undefined;
      stopListening = cancellation.onCancel((_cause: GatewayError) => {
        const at = this.#waiting.indexOf(enter);
        if (at < 0) return;
        this.#waiting.splice(at, 1);
        resolve(false);
      });
    });
  }

  /** Lets in who waits, as far as there is room: a raised limit makes some, too. */
  #admit(): void {
    while (this.#held < this.#limit) {
      const enter = this.#waiting.shift();
      if (!enter) return;
      this.#held += 1;
      enter();
    }
  }
}
