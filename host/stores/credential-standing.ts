/**
 * Whether what was begun under a credential may go on.
 *
 * - `stands`: it counts, or only a store that is away could say that it does not.
 * - `unknown`: memory cannot say; the store is to be asked.
 * - `expired`: its time is over: what it began finishes, but for connections without an end of their own.
 * - the others: why everything that it began ends.
 */
export type Standing = 'stands' | 'unknown' | 'expired' | Ended;

/** `replaced`: by a rotation, or its grace is over. `gone`: no store has it. `unheard`: its store has been away for too long. */
export type Ended = 'revoked' | 'replaced' | 'gone' | 'unheard';

/** Milliseconds for which a credential that was in use goes on being served without its store. See docs/reference/admin.md#stores-that-do-not-answer. */
export const SEEN_MS = 60 * 60 * 1000;

/** While a store is away, at monotonic milliseconds `at`: a credential stands for an hour after the store was last heard of. */
export function unheardStanding({ heardAt }: { readonly heardAt: number }, at: number): Standing {
  return at - heardAt > SEEN_MS ? 'unheard' : 'stands';
}

/** A credential, or all of them, may not be what it was: by its id, without one any. `isGone` where it is certain that it is no more. */
export interface CredentialChange {
  readonly id: string | undefined;
  readonly isGone: boolean;
}

/** Those who hear of changes of credentials, of this process and of others as far as they are heard of, once memory knows of them. */
export class CredentialChanges {
  readonly #listeners: ((change: CredentialChange) => void)[] = [];

  listen(listener: (change: CredentialChange) => void): void {
    this.#listeners.push(listener);
  }

  tell(id: string | undefined, isGone = false): void {
    for (const listener of this.#listeners) listener({ id, isGone });
  }
}
