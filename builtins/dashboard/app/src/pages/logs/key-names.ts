import type { ApiKey } from '../../api/admin-wire.ts';
import { stateOf } from '../keys/key-state.ts';

/** A credential as a row shows it. */
export interface KeyName {
  readonly name: string;
  /** Set where the key works no more. */
  readonly mark?: 'revoked' | 'expired' | 'deleted';
}

/** Names the credential of a row. A deleted key has no name any more, and shows its id. */
export function keyNameOf(id: string, keys: readonly ApiKey[] | undefined, now: number): KeyName {
  if (id === '') return { name: 'No API key' };
  if (id.startsWith('master-key:')) return { name: 'Master key' };
  const key = keys?.find((each) => each.id === id);
  if (!key) return keys ? { name: id, mark: 'deleted' } : { name: id };
  const state = stateOf(key, now);
  return state === 'active' ? { name: key.name } : { name: key.name, mark: state };
}
