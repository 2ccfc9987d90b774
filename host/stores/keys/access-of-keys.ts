import { GatewayError, type Scope } from '../../contract/index.ts';

/** What a key may reach: models alone, or also what its scopes allow. A key for inference is kept without scopes, so that an older gateway gives it no more. */
export type KeyAccess = 'inference' | 'full';
export const ACCESS_WORDS: readonly KeyAccess[] = ['inference', 'full'];

interface Scoped {
  readonly scopes: readonly Scope[];
}

export const accessOf = ({ scopes }: Scoped): KeyAccess => (scopes.length === 0 ? 'inference' : 'full');

/** The scopes of a key as they are shown: a key for inference shows what it was made with. */
export const shownScopes = ({ scopes }: Scoped): readonly Scope[] => (scopes.length === 0 ? READ_ONLY : scopes);

const READ_ONLY: readonly Scope[] = Object.freeze(['read_only'] as const);

/** The scopes of a new key. `otherwise` counts where neither access nor a scope is written. Throws where they contradict each other. */
export function scopesOfNew(
  written: readonly Scope[],
  access: KeyAccess | undefined,
  otherwise: KeyAccess,
): readonly Scope[] {
  refuseContradiction(written, access);
  const meant = access ?? (written.length > 0 ? 'full' : otherwise);
  if (meant === 'inference') return [];
  return written.length > 0 ? written : READ_ONLY;
}

/** The scopes of a key after a change. Throws where what is written contradicts what the key is: nothing widens a key for inference but `access`. */
export function scopesAfter(
  before: readonly Scope[],
  { scopes, access }: { readonly scopes?: readonly Scope[] | undefined; readonly access?: KeyAccess | undefined },
): readonly Scope[] {
  if (access === 'inference') {
    refuseContradiction(scopes ?? before, access);
    return [];
  }
  if (access === 'full') return scopes ?? shownScopes({ scopes: before });
  if (before.length > 0) return scopes ?? before;
  if (scopes?.some((scope) => scope !== 'read_only'))
    throw new GatewayError('invalid_request', 'this key is for inference only; send access full as well');
  return [];
}

/** Throws where a body asks for both. */
export function refuseContradiction(scopes: readonly Scope[], access: KeyAccess | undefined): void {
  if (access === 'inference' && scopes.includes('admin'))
    throw new GatewayError('invalid_request', 'a key for inference has no scope admin');
}
