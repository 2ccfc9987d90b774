/** Where in the common request a mark stands that a client made. */
export type MarkSpot =
  | { readonly kind: 'tool' }
  | { readonly kind: 'part'; readonly isText: boolean }
  /** A message itself is marked; `last` is what its content ends with. */
  | { readonly kind: 'message'; readonly last: 'text' | 'other' | 'nothing' }
  | { readonly kind: 'call'; readonly isLast: boolean }
  /** What it stood on has no place in the common format. */
  | { readonly kind: 'nowhere' };

export interface MarkNote {
  readonly path: string;
  readonly spot: MarkSpot;
}

/** An item of `reasoning_details`, as far as it decides where it may go. */
export interface ItemNote {
  readonly format: unknown;
  /** The provider that made it, where it says so. */
  readonly origin: unknown;
  /** Whether it holds what its vendor signed or sealed. */
  readonly isSigned: boolean;
  /** The call that it belongs to, where it names one. */
  readonly id: unknown;
}

/** A block, part or item of the client's that holds a thought. */
export interface ThoughtNote {
  readonly path: string;
  readonly hasText: boolean;
  readonly items: readonly ItemNote[];
}

/** What decides about the thoughts of a turn of the assistant as a whole. */
export interface TurnFacts {
  /** Ids of the calls that it makes. */
  readonly calls: ReadonlySet<unknown>;
  /** Whether it says or calls anything beside its thoughts. */
  readonly saysMore: boolean;
  /** Whether any of its thoughts has items of `reasoning_details`. */
  readonly hasItems: boolean;
}

export interface TurnNote {
  readonly facts: TurnFacts;
  readonly thoughts: readonly ThoughtNote[];
}

/** What a client brought along of earlier turns. */
export interface NotedHistory {
  readonly marks: readonly MarkNote[];
  readonly turns: readonly TurnNote[];
}

/** Nothing was brought along, as in a request that is not a conversation. */
export const NO_HISTORY: NotedHistory = Object.freeze({ marks: [], turns: [] });

/**
 * What a client brought along of earlier turns, and by which paths it knows it. Noted while its body is read: what of it a
 * target takes is decided by the same functions for the request and for the report.
 */
export class HistoryNotes implements NotedHistory {
  readonly marks: MarkNote[] = [];
  readonly turns: TurnNote[] = [];

  mark(path: string, spot: MarkSpot): void {
    this.marks.push({ path, spot });
  }

  turn(thoughts: readonly ThoughtNote[], turn: Omit<TurnFacts, 'hasItems'>): void {
    if (thoughts.length === 0) return;
    this.turns.push({ facts: { ...turn, hasItems: thoughts.some(({ items }) => items.length > 0) }, thoughts });
  }
}
