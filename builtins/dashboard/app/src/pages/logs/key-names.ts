import type { ApiKey } from '../../api/admin-wire.ts';
import { stateOf } from '../keys/key-state.ts';

/** A credential as a row shows it. */
export interface KeyName {
  readonly name: string;
  /** Set where the key works no more. */
  readonly mark?: 'revoked' | 'expired' | 'deleted';
}

/** Keys that were asked for by their ids. */
export interface KnownKeys {
  readonly keys: readonly ApiKey[];
  /** Whether the answer is there for all of them: one that is not in it is gone. */
  readonly isWhole: boolean;
}

/** The master key is not a stored one. */
export const isMaster = (id: string): boolean => id.startsWith('master-key:');

/** Names the credential of a row. A deleted key has no name any more, and shows its id. */
export function keyNameOf(id: string, { keys, isWhole }: KnownKeys, now: number): KeyName {
  if (id === '') return { name: 'No API key' };
  if (isMaster(id)) return { name: 'Master key' };
  const key = keys.find((each) => each.id === id);
  if (!key) return isWhole ? { name: id, mark: 'deleted' } : { name: id };
  const state = stateOf(key, now);
  return state === 'active' ? { name: key.name } : { name: key.name, mark: state };
}
