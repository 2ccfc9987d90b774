/** What has a number of places: calls of a target or credential, requests of a key, account or tag that are in flight. */
export interface Resource {
  /** What kind of resource it is. */
  readonly group: string;
  readonly key: string;
  /** Places that it has. */
  readonly most: number;
}

export interface PlaceAsk {
  /** A place is taken in each of them, or in none. */
  readonly of: readonly Resource[];
  /** Calls that want a place. */
  readonly wanted: number;
  /** Who is refused waits and asks again: who has waited longer goes first. For one resource alone. */
  readonly isQueued: boolean;
}

/** A place in each resource of an ask. */
export interface PlacesHeld {
  readonly of: readonly Resource[];
  readonly id: string;
}

export interface PlacesTaken {
  /** One for each call that got a place. */
  readonly held: readonly PlacesHeld[];
  /** Which resource of the ask was short of room; `undefined` when all calls got a place. */
  readonly refusedAt: number | undefined;
}

/** Places that several processes take. */
export interface SharedPlaces {
  /** `undefined` while it cannot be known how many are taken. Rejects while the store does not answer; what it took then ends by itself. */
  take(ask: PlaceAsk): Promise<PlacesTaken | undefined>;
  /** Takes a place without asking: the store hears of it later. */
  hold(of: readonly Resource[]): PlacesHeld;
  /** Nothing waits for it. */
  giveBack(held: PlacesHeld): void;
  /** Places of a resource that this process holds. */
  heldOf(resource: Resource): number;
  /** Calls when a place is free that this process was refused. Gives what ends that. Absent where nothing says so: then it is asked again. */
  readonly onFree?: ((of: Pick<Resource, 'group' | 'key'>, then: () => void) => () => void) | undefined;
}
