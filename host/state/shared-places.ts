/** What tells that a caller waits no longer. Gives what ends the listening. */
export interface Leaving {
  onCancel(listener: () => void): () => void;
}

/** A place among calls in flight, and how many there are of its name. */
export interface PlaceAsk {
  readonly key: string;
  readonly limit: number;
}

/** Places in what may be in flight at a time, held together by all processes of one gateway. */
export interface SharedPlaces {
  /** Takes one of each name, or none. Resolves with where the first one stands that is full; `undefined` when all were taken. */
  tryAll(asks: readonly PlaceAsk[]): Promise<number | undefined>;
  /** Waits in line for one, behind at most so many others of this process. True once it is held; false when the line is full, or the caller stopped waiting. */
  wait(ask: PlaceAsk & { readonly queueSize: number }, caller: Leaving): Promise<boolean>;
  giveBack(keys: readonly string[]): void;
}
