/** What processes of one gateway say to each other in passing: of circuits, rests, credentials and sessions. */
export type HintKind = 'circuit' | 'rest' | 'credential' | 'session';

export interface HintValue {
  /** Milliseconds for which it counts, so that no clocks are compared; 0 takes back what was said before. */
  readonly forMs: number;
}

/** Each is about one thing, by its id; the newest counts. */
export interface TeamHints {
  send(kind: HintKind, id: string, value: HintValue): void;
  /** Calls with what other processes say of this thing, and at once with what they said last. Gives what ends that. */
  on(kind: HintKind, id: string, heard: (value: HintValue) => void): () => void;
  /** Calls with what other processes say of anything of a kind. */
  onAny(kind: HintKind, heard: (id: string, value: HintValue) => void): () => void;
}
