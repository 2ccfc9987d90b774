/** Where something stands in a list: by its moment, and of one moment by its id. */
interface Place {
  readonly createdAt: string | number;
  readonly id: string;
}

/** Ids in the order of lists, the newest first and then by id downwards. A place in it is found without looking at all of them. */
export class NewestFirst {
  /** The oldest first: what is new is added at the end. */
  readonly #places: Place[] = [];

  constructor(places: Iterable<Place> = []) {
    for (const place of places) this.add(place);
  }

  add({ createdAt, id }: Place): void {
    this.#places.splice(this.#reach({ createdAt, id }), 0, { createdAt, id });
  }

  remove(place: Place): void {
    const at = this.#reach(place);
    if (this.#places[at]?.id === place.id) this.#places.splice(at, 1);
  }

  clear(): void {
    this.#places.length = 0;
  }

  /** Ids that stand behind a place; all without one. Nothing may change before the last of them was read. */
  *behind(place?: Place): Generator<string> {
    for (let at = place ? this.#reach(place) : this.#places.length; at > 0; at -= 1) {
      const next = this.#places[at - 1];
      if (next) yield next.id;
    }
  }

  /** How many are older. */
  #reach(place: Place): number {
    let [low, high] = [0, this.#places.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const found = this.#places[middle];
      if (found && isOlder(found, place)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const isOlder = (a: Place, b: Place): boolean =>
  a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.id < b.id);
