import { CredentialEnded } from '../stores/credential-ended.ts';
import { NoCredential } from '../upstream/credentials/no-credential.ts';
import type { GatewayError } from '../contract/index.ts';

/** Classes of failure in the figures. See docs/reference/data-plane.md#failure-classes. */
export type FailureClass =
  | 'provider_error'
  | 'circuit_open'
  | 'timeout'
  | 'client_canceled'
  | 'backpressure'
  | 'plugin_error'
  | 'no_credential';

export function errorType(error: GatewayError): FailureClass {
  if (error instanceof CredentialEnded) return 'client_canceled';
  if (error instanceof NoCredential) return 'no_credential';
  const { code, fault } = error;
  switch (code) {
    case 'upstream_unavailable':
      return 'circuit_open';
    case 'provider_saturated':
      return 'backpressure';
    case 'client_canceled':
      return 'client_canceled';
    case 'gateway_timeout':
    case 'stream_timeout':
      return 'timeout';
    case 'plugin_error':
    case 'response_rejected':
      return 'plugin_error';
    default:
      return fault?.kind === 'timeout' ? 'timeout' : 'provider_error';
  }
}
