import type { GatewayError } from '../../host/contract/index.ts';
import type { Eventual } from '../../host/pipeline/eventual.ts';
import type { Cancellation } from '../../host/upstream/cancellation.ts';

export interface SlotLimits {
  /** Calls at a time. */
  readonly maxConcurrency: number;
  /** Calls that may wait for a slot. */
  readonly queueSize: number;
}

/** What calls of one target hold while they run. */
export interface TargetSlots {
  /** Calls that hold a slot. */
  readonly held: number;
  /** Calls that wait for one. */
  readonly waiting: number;
  /** True once a slot is held; false when slots and queue are full, or the caller stopped waiting. */
  take(limits: SlotLimits, cancellation: Cancellation): Eventual<boolean>;
  giveBack(): void;
  /** The target is gone. */
  close?(): void;
}

/**
 * Slots of one target, first come first served. The limits come with each call, so that a new configuration changes them
 * without forgetting who holds a slot.
 */
export class Slots implements TargetSlots {
  #held = 0;
  #waiting: (() => void)[] = [];
  #limit = 0;

  get held(): number {
    return this.#held;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

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
