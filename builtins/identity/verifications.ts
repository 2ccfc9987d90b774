import type { Counters } from '../../host/contract/index.ts';
import type { TokenFault } from './verify-token.ts';

export type Verification = TokenFault | 'ok' | 'blocked' | 'no_access';

/** Counts one check of a token. `issuer` is a name of the configuration. */
export function countVerification(
  counters: Counters,
  {
    issuer = 'none',
    kind,
    result,
  }: { readonly issuer?: string | undefined; readonly kind: 'bearer' | 'sign_in'; readonly result: Verification },
): void {
  counters.add('gateway_identity_verifications_total', { issuer, kind, result });
}
