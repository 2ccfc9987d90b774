import type { Clock } from '../common/clock.ts';
import { type StoreLink, StoreUnavailable } from './store-link.ts';

/**
 * Whether what was begun under a credential may go on.
 *
 * - `stands`: it counts, or only a store that is away could say that it does not.
 * - `unknown`: memory cannot say; the store is to be asked.
 * - `expired`: its time is over: what it began finishes, but for connections without an end of their own.
 * - the others: why everything that it began ends.
 */
export type Standing = 'stands' | 'unknown' | 'expired' | Ended;

/** What a request asks of its credential: models, or the control plane. */
export type Plane = 'data' | 'control';

/** `replaced`: by a rotation, or its grace is over. `narrowed`: to a key for inference, under a request of the control plane. `gone`: no store has it. `unheard`: its store has been away for too long. */
export type Ended = 'revoked' | 'replaced' | 'narrowed' | 'gone' | 'unheard';

/** A key that is known and no longer counts: for the operator, never for the client. */
export interface EndedKey {
  readonly id: string;
  readonly standing: 'expired' | 'revoked';
}

/** Hears of such a key where a credential is looked up. */
export type OnEnded = (key: EndedKey) => void;

/** Milliseconds for which a credential that was in use goes on being served without its store. See docs/reference/admin.md#stores-that-do-not-answer. */
export const SEEN_MS = 60 * 60 * 1000;

/** What stores say. While one is away a credential stands, for an hour after that store was last heard of; one that has failed a moment ago is not asked. */
export async function askedStanding(
  links: readonly StoreLink[],
  { monotonic }: Pick<Clock, 'monotonic'>,
  ask: () => Promise<Standing>,
): Promise<Standing> {
  const isAway = links.some((link) => link.isResting(monotonic()));
  try {
    if (!isAway) return await ask();
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
  }
  const isUnheard = links.some((link) => link.isAway && monotonic() - link.heardAt > SEEN_MS);
  return isUnheard ? 'unheard' : 'stands';
}

/** A credential, or all of them, may not be what it was: by its id, without one any. `isGone` where it is certain that it is no more. */
export interface CredentialChange {
  readonly id: string | undefined;
  readonly isGone: boolean;
}

/** Those who hear of changes of credentials, of this process and of others as far as they are heard of, once memory knows of them. */
export class CredentialNotices {
  readonly #listeners: ((change: CredentialChange) => void)[] = [];

  listen(listener: (change: CredentialChange) => void): void {
    this.#listeners.push(listener);
  }

  tell(id: string | undefined, isGone = false): void {
    for (const listener of this.#listeners) listener({ id, isGone });
  }
}
