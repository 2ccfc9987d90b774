import { GatewayError } from '../../contract/index.ts';
import { isUsableAdmin, type KeyChange, type KeyRecord } from './key-record.ts';

/** What the guard must know. The target and the count come from the transaction that makes the change. */
export interface LockoutFacts {
  readonly target: KeyRecord | undefined;
  /** Stored keys that may still administer, the target among them. The master key is none. */
  readonly usableAdmins: number;
  readonly now: number;
}

/** Whether a change takes the power to administer away, or might: an expiry that has passed is a revocation in disguise. */
export function removesAdmin({ scopes, expiresAt }: KeyChange, now: number): boolean {
  return (scopes !== undefined && !scopes.includes('admin')) || (typeof expiresAt === 'number' && expiresAt <= now);
}

/**
 * Refuses, by throwing, to take access away from the caller's own key. `callerId` is the credential behind the request: of a session, the one it was
 * made from. It comes before every question to the store. See docs/reference/admin.md#lockout-guard.
 */
export function refuseSelf(targetId: string, callerId: string): void {
  if (targetId === callerId)
    throw new GatewayError('self_mutation_forbidden', 'a key cannot take its own access away; use another admin key');
}

/** Refuses, by throwing, to take access away from the last key that can administer. */
export function refuseLockout({ target, usableAdmins, now }: LockoutFacts): void {
  if (!target || !isUsableAdmin(target, now) || usableAdmins > 1) return;
  throw new GatewayError('last_admin_key', 'this is the last key that can administer; make another admin key first');
}
