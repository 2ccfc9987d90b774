/** What replicas say to each other in passing. */
type HintKind = 'catalog';

/** Nothing of it is kept: a replica that does not listen at the moment misses it. */
export interface Hints {
  /** What cannot be sent is lost. */
  send(kind: HintKind, value: string): void;
  /** Calls with what any replica sent, this one too. */
  on(kind: HintKind, heard: (value: string) => void): void;
}

/** A process that has no others beside it. */
export const NO_HINTS: Hints = { send: () => {}, on: () => {} };
