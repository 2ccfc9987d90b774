import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../contract/index.ts';

const SCHEME = 'Bearer ';

/**
 * The credential of a request: exactly `Bearer`, one blank, and all that follows, untrimmed. Without it the credential is missing.
 * Source: admin reference 6.1.
 */
export function bearerOf({ headers: { authorization } }: IncomingMessage): string | GatewayError {
  if (authorization?.startsWith(SCHEME)) return authorization.slice(SCHEME.length) || invalidKey();
  return new GatewayError('missing_api_key', 'the Authorization header is missing, or its scheme is not Bearer');
}

export function invalidKey(): GatewayError {
  return new GatewayError('invalid_api_key', 'the API key is not valid');
}
