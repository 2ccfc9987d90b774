import { HostPrincipal } from '../../common/host-principal.ts';
import type { Standing } from '../credential-standing.ts';
import { isUsable, type StoredKey } from '../keys/key-record.ts';
import { standingOfKey } from '../keys/key-table.ts';
import { isLive, type SessionRecord, type StoredSession } from './session-record.ts';

/** What a session was made from, as it is now: a stored key, or a credential of the environment. */
export type Parent = StoredKey | HostPrincipal;

/** A rotation of its key has ended it. */
export function isEnded({ createdAt }: SessionRecord, parent: Parent | undefined): boolean {
  return (
    parent !== undefined &&
    'sessionsFrom' in parent &&
    parent.sessionsFrom !== undefined &&
    createdAt < parent.sessionsFrom
  );
}

/** What a session is worth to that which it began; `undefined` without what it was made from. */
export function standingOf(session: SessionRecord, parent: Parent | undefined, now: number): Standing | undefined {
  if (!parent) return undefined;
  if (isEnded(session, parent)) return 'replaced';
  const standing = 'digest' in parent ? standingOfKey(parent, now) : 'stands';
  return standing === 'stands' && !isLive(session, now) ? 'expired' : standing;
}

export function isGood(parent: Parent, now: number): boolean {
  return !('digest' in parent) || isUsable(parent, now);
}

export function principalOf(
  { id: sessionId, credentialId: id, subject: name }: StoredSession,
  { scopes, limits }: Parent,
): HostPrincipal {
  return new HostPrincipal({
    id,
    name,
    scopes,
    sessionId,
    ...(limits && Object.keys(limits).length > 0 && { limits }),
  });
}
