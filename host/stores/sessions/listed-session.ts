import type { HostPrincipal } from '../../common/host-principal.ts';
import { accessOf } from '../keys/access-of-keys.ts';
import { isUsable, type StoredKey } from '../keys/key-record.ts';
import { type SessionRecord, sessionRecordOf, type StoredSession } from './session-record.ts';

/** What a session was made from, as it is now: a stored key, or a credential of the environment. */
export type Parent = StoredKey | HostPrincipal;

/** `active`: the credential that it was made from is still good for it. */
export interface ListedSession extends SessionRecord {
  readonly active: boolean;
}

/** A session as lists have it; `undefined` for one that a rotation of its key has ended. */
export function listedSession(
  session: StoredSession,
  parents: ReadonlyMap<string, Parent>,
  now: number,
): ListedSession | undefined {
  const parent = parents.get(session.credentialId);
  if (isEnded(session, parent)) return undefined;
  return { ...sessionRecordOf(session), active: parent !== undefined && isGood(parent, now) };
}

/** A rotation of its key has ended it. */
export function isEnded({ createdAt }: SessionRecord, parent: Parent | undefined): boolean {
  return (
    parent !== undefined &&
    'sessionsFrom' in parent &&
    parent.sessionsFrom !== undefined &&
    createdAt < parent.sessionsFrom
  );
}

/** A key for inference has no sessions while it is one. */
export function isGood(parent: Parent, now: number): boolean {
  return !('digest' in parent) || (accessOf(parent) === 'full' && isUsable(parent, now));
}
