import type { PlaceAsk, PlacesHeld, PlacesTaken, Resource, SharedPlaces } from '../state/shared-places.ts';
import type { Place } from './place.ts';
import type { StateTrips } from './state-trips.ts';

const NONE: PlacesTaken = { held: [], refusedAt: 0 };

const isShort = (taken: PlacesTaken | undefined): boolean => taken?.refusedAt !== undefined;

/**
 * Places that replicas take together. While the store fails, takes longer than a request may wait, or does not know yet what is held, this process takes its
 * share of them: the places of each resource divided by the replicas that were counted last, one at least.
 */
export class BoundedPlaces {
  readonly #place: Place<SharedPlaces | undefined>;
  readonly #trips: StateTrips;
  readonly #replicas: () => number;

  constructor(place: Place<SharedPlaces | undefined>, trips: StateTrips, replicas: () => number) {
    this.#place = place;
    this.#trips = trips;
    this.#replicas = replicas;
  }

  /** Whether there is a store. Without one places are counted where they are taken. */
  get isShared(): boolean {
    return this.#place.value !== undefined;
  }

  /** Never rejects. Each that is held must be given back. */
  async take(ask: PlaceAsk): Promise<PlacesTaken> {
    const store = this.#place.value;
    if (!store) return NONE;
    let isLate = false;
    const trip = this.#trips.ask({
      kind: 'slots',
      ask: () => {
        const taking = store.take(ask);
        void taking.then(
          (late) => isLate && late?.held.forEach((place) => store.giveBack(place)),
          () => {},
        );
        return taking;
      },
      isDenied: isShort,
    });
    const answer = await trip;
    isLate = true;
    return answer ?? this.#takeShare(store, ask);
  }

  get onFree(): SharedPlaces['onFree'] {
    return this.#place.value?.onFree;
  }

  giveBack(held: PlacesHeld): void {
    this.#place.value?.giveBack(held);
  }

  #takeShare(store: SharedPlaces, { of, wanted }: PlaceAsk): PlacesTaken {
    const held: PlacesHeld[] = [];
    const replicas = this.#replicas();
    const shareOf = ({ most }: Resource): number => Math.max(1, Math.floor(most / replicas));
    while (held.length < wanted) {
      const refusedAt = of.findIndex((resource) => store.heldOf(resource) >= shareOf(resource));
      if (refusedAt >= 0) return { held, refusedAt };
      held.push(store.hold(of));
    }
    return { held, refusedAt: undefined };
  }
}
