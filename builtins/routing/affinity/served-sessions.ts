import type { SessionOrder } from '../../../host/contract/index.ts';

/** What served a session. */
export interface ServedPair {
  /** The name of the group whose list it stood in; empty outside groups. */
  readonly route: string;
  /** The credential, or the label of its vendor account; `undefined` where nothing was chosen. */
  readonly place: string | undefined;
}

interface Kept extends ServedPair {
  readonly movedAt: number;
  readonly usedAt: number;
}

/** Sessions that are remembered: about 200 bytes each. */
export const MAX_SESSIONS = 20_000;

/** How long a session stays where it moved to: under an order that the operator wrote from the move on, else since it was last served there. */
export const AWAY_MS = 10 * 60_000;
export const UNUSED_MS = 60 * 60_000;

/**
 * Where sessions were served last, as far as their own order does not say it, by digest; the longest unused go first. Lives
 * through changes of the configuration. See docs/reference/affinity.md#sessions-that-moved.
 */
export class ServedSessions {
  readonly #kept = new Map<string, Kept>();

  get size(): number {
    return this.#kept.size;
  }

  /** Where a session is sent before its own order; looking changes nothing. */
  find(digest: string, order: SessionOrder | undefined, now: number): ServedPair | undefined {
    const kept = this.#kept.get(digest);
    if (!kept) return undefined;
    const isOver = order === 'declared' ? now - kept.movedAt >= AWAY_MS : now - kept.usedAt >= UNUSED_MS;
    return isOver ? undefined : kept;
  }

  /** It was served there. The same pair again keeps the time of its move, if it has not run out since. */
  keep(digest: string, { route, place }: ServedPair, order: SessionOrder | undefined, now: number): void {
    const known = this.find(digest, order, now) as Kept | undefined;
    const movedAt = known && isSame(known, { route, place }) ? known.movedAt : now;
    this.#kept.delete(digest);
    this.#kept.set(digest, { route, place, movedAt, usedAt: now });
    if (this.#kept.size <= MAX_SESSIONS) return;
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined) this.#kept.delete(oldest);
  }

  forget(digest: string): void {
    this.#kept.delete(digest);
  }
}

export const isSame = (one: ServedPair, other: ServedPair): boolean =>
  one.route === other.route && one.place === other.place;
