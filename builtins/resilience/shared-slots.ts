import type { Clock, Timer } from '../../host/common/clock.ts';
import type { Eventual } from '../../host/pipeline/eventual.ts';
import type { PlacesHeld } from '../../host/state/shared-places.ts';
import type { BoundedPlaces } from '../../host/stores/bounded-places.ts';
import type { Cancellation } from '../../host/upstream/cancellation.ts';
import type { SlotLimits, TargetSlots } from './slots.ts';

/** Milliseconds after which it is asked again whether there is room: nothing says that another replica gave a place back. */
export const AGAIN_MS = 50;
/** Calls that one question asks for. */
const MOST_AT_ONCE = 100;
/** What has the places, as the store names it. */
const TARGETS = 'calls of targets';

type Places = Pick<BoundedPlaces, 'take' | 'giveBack'> & Partial<Pick<BoundedPlaces, 'onFree'>>;
type Answer = (isHeld: boolean) => void;

/**
 * Slots of one target that replicas hold together. Calls of this replica wait in the order in which they came, and replicas by which of them has waited
 * longest. One question is on its way at a time; who comes meanwhile is asked for with the next.
 */
export class SharedSlots implements TargetSlots {
  readonly #places: Places;
  readonly #clock: Clock;
  readonly #key: string;
  readonly #waiting: Answer[] = [];
  /** Places of calls that were bounded. A call has none of its own: whichever ends gives one back. */
  readonly #taken: PlacesHeld[] = [];
  #held = 0;
  #limits: SlotLimits = { maxConcurrency: Number.POSITIVE_INFINITY, queueSize: 0 };
  #isAsking = false;
  #again: Timer | undefined;
  readonly #stop: (() => void) | undefined;

  constructor(places: Places, clock: Clock, virtualKey: string) {
    this.#places = places;
    this.#clock = clock;
    this.#key = virtualKey;
    this.#stop = places.onFree?.({ group: TARGETS, key: virtualKey }, () => void this.#ask());
  }

  /** The target is gone. */
  close(): void {
    this.#stop?.();
  }

  get held(): number {
    return this.#held;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  take(limits: SlotLimits, cancellation: Cancellation): Eventual<boolean> {
    this.#limits = limits;
    if (!Number.isFinite(limits.maxConcurrency)) {
      this.#held += 1; // the target has no bound: it is only counted
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#waiting.push(resolve);
    const stopListening = cancellation.onCancel(() => this.#leave(resolve));
    void this.#ask();
    return promise.finally(stopListening);
  }

  giveBack(): void {
    this.#held -= 1;
    const place = this.#taken.length > this.#held ? this.#taken.pop() : undefined;
    if (place) this.#places.giveBack(place);
    void this.#ask();
  }

  #leave(answer: Answer): void {
    const at = this.#waiting.indexOf(answer);
    if (at < 0) return;
    this.#waiting.splice(at, 1);
    if (this.#waiting.length === 0) this.#again?.cancel();
    answer(false);
  }

  async #ask(): Promise<void> {
    if (this.#isAsking || this.#waiting.length === 0) return;
    this.#isAsking = true;
    this.#again?.cancel();
    const { maxConcurrency: most, queueSize } = this.#limits;
    const { held, refusedAt } = await this.#places.take({
      of: [{ group: TARGETS, key: this.#key, most }],
      wanted: Math.min(this.#waiting.length, MOST_AT_ONCE),
      isQueued: true,
    });
    this.#isAsking = false;
    for (const place of held) this.#enter(place);
    if (refusedAt === undefined) return this.#ask();
    while (this.#waiting.length > queueSize) this.#waiting.pop()?.(false); // who came last finds no place to wait
    if (this.#waiting.length > 0) this.#again = this.#clock.timer(AGAIN_MS, () => void this.#ask());
    return undefined;
  }

  /** Who waited for it may have left meanwhile. */
  #enter(place: PlacesHeld): void {
    const answer = this.#waiting.shift();
    if (!answer) return this.#places.giveBack(place);
    this.#held += 1;
    this.#taken.push(place);
    answer(true);
  }
}
