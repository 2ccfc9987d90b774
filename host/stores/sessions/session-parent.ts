import { HostPrincipal } from '../../common/host-principal.ts';
import type { Standing } from '../credential-standing.ts';
import { accessOf } from '../keys/access-of-keys.ts';
import type { StoredKey } from '../keys/key-record.ts';
import { standingOfKey } from '../keys/key-table.ts';
import { isEnded, type Parent } from './listed-session.ts';
import { isLive, type SessionRecord, type StoredSession } from './session-record.ts';

/** What a session is worth to that which it began; `undefined` without what it was made from. */
export function standingOf(session: SessionRecord, parent: Parent | undefined, now: number): Standing | undefined {
  if (!parent) return undefined;
  if (isEnded(session, parent)) return 'replaced';
  const standing = 'digest' in parent ? standingOfParent(parent, now) : 'stands';
  return standing === 'stands' && !isLive(session, now) ? 'expired' : standing;
}

/** As of a key that has expired: it may be made wider again. */
const standingOfParent = (key: StoredKey, now: number): Standing => {
  const standing = standingOfKey(key, now);
  return standing === 'stands' && accessOf(key) === 'inference' ? 'expired' : standing;
};

/** Whom a session stands for: its key as it is now. */
export function principalOf(
  { id: sessionId, credentialId: id, subject: name }: StoredSession,
  parent: Parent,
): HostPrincipal {
  const { scopes, limits } = parent;
  return new HostPrincipal({
    ...('issuer' in parent && { issuer: parent.issuer }),
    id,
    name,
    scopes,
    sessionId,
    ...(limits && Object.keys(limits).length > 0 && { limits }),
  });
}
