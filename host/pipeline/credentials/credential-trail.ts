import { GatewayError } from '../../contract/index.ts';
import type { CredentialValue, LocalCredentialStates } from '../../upstream/credentials/credential-states.ts';
import { SpentError } from '../../upstream/fault.ts';

/** A credential that was refused a model, so that another one's answer can confirm that it has no access. */
export interface RefusedAccess {
  readonly instance: string;
  readonly credential: string;
  readonly value: CredentialValue;
  readonly states: LocalCredentialStates;
  readonly upstreamModel: string;
}

/** What the ends of a request's calls said of the credentials. */
export class CredentialTrail {
  refused: RefusedAccess[] = [];
  /** The smallest wait that a vendor asked for in a 429. */
  waitMs: number | undefined;
  /** The last failure that says that an account has spent what it may. */
  spent: GatewayError | undefined;
}

/** What the client gets of the last error: the wait of the credential that is free first, and none where only the account's credit ends it. */
export function finalError(error: GatewayError, trail: CredentialTrail | undefined): GatewayError {
  if (!trail || error.fault?.status !== 429 || error.status !== 429) return error;
  const { waitMs } = trail;
  if (trail.spent === error) return new SpentError(error, waitMs);
  if (waitMs === undefined || waitMs === error.retryAfterMs) return error;
  const { code, message, fault, cause } = error;
  return new GatewayError(code, message, { cause, retryAfterMs: waitMs, fault });
}
