import type { SessionOrder } from '../../../host/contract/index.ts';

/** What served a session. */
export interface ServedPair {
  /** The name of the group whose list it stood in; empty outside groups. */
  readonly route: string;
  /** The credential, or the label of its vendor account; `undefined` where nothing was chosen. */
  readonly place: string | undefined;
}

/** What one process of a gateway says to the others of a session: ages in milliseconds, so that no clocks are compared. */
export interface SessionWord extends ServedPair {
  readonly movedAgoMs: number;
}

interface Kept extends ServedPair {
  readonly movedAt: number;
  readonly usedAt: number;
  /** When others last heard of it. */
  readonly saidAt: number;
}

/** Sessions that are remembered: about 200 bytes each. */
export const MAX_SESSIONS = 20_000;

/** How long a session stays where it moved to: under an order that the operator wrote from the move on, else since it was last served there. */
export const AWAY_MS = 10 * 60_000;
export const UNUSED_MS = 60 * 60_000;
/** How long a session that stays in use is not spoken of again. */
const SAY_MS = 5 * 60_000;

/**
 * Where sessions were served last, as far as their own order does not say it, by digest; the longest unused go first. Lives
 * through changes of the configuration. See docs/reference/affinity.md#sessions-that-moved.
 */
export class ServedSessions {
  /** Hears of sessions that others should know of, and of those that they should forget. */
  tell: ((digest: string, word: SessionWord | undefined) => void) | undefined;
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
    const isKnown = known !== undefined && isSame(known, { route, place });
    const movedAt = isKnown ? known.movedAt : now;
    const isNews = !isKnown || now - known.saidAt >= SAY_MS;
    this.#put(digest, { route, place, movedAt, usedAt: now, saidAt: isNews ? now : known.saidAt });
    if (isNews) this.tell?.(digest, { route, place, movedAgoMs: now - movedAt });
  }

  /** Another process of this gateway has served it there, or has it forgotten. */
  hear(digest: string, word: SessionWord | undefined, now: number): void {
    if (!word) this.#kept.delete(digest);
    else {
      const { route, place, movedAgoMs } = word;
      this.#put(digest, { route, place, movedAt: now - movedAgoMs, usedAt: now, saidAt: now });
    }
  }

  #put(digest: string, kept: Kept): void {
    this.#kept.delete(digest);
    this.#kept.set(digest, kept);
    if (this.#kept.size <= MAX_SESSIONS) return;
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined) this.#kept.delete(oldest);
  }

  forget(digest: string): void {
    if (this.#kept.delete(digest)) this.tell?.(digest, undefined);
  }
}

export const isSame = (one: ServedPair, other: ServedPair): boolean =>
  one.route === other.route && one.place === other.place;
