import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../contract/index.ts';

/** In any case of letters. Source: RFC 9110, section 11.1. */
const SCHEME = /^bearer /i;
const SCHEME_LENGTH = 'Bearer '.length;

/**
 * The credential of a request: the scheme, one blank, and all that follows, untrimmed. Without it the credential is missing.
 * See docs/reference/admin.md#reading-a-credential.
 */
export function bearerOf(request: Pick<IncomingMessage, 'headers' | 'rawHeaders'>): string | GatewayError {
  const authorization = firstOf(request);
  if (authorization !== undefined && SCHEME.test(authorization))
    return authorization.slice(SCHEME_LENGTH) || invalidKey();
  return new GatewayError('missing_api_key', 'the Authorization header is missing, or its scheme is not Bearer');
}

/** The first of several headers; they arrive joined by a comma, which a credential may hold as well. */
function firstOf({
  headers: { authorization },
  rawHeaders,
}: Pick<IncomingMessage, 'headers' | 'rawHeaders'>): string | undefined {
  if (!authorization?.includes(', ')) return authorization;
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'authorization');
  return rawHeaders[at + 1];
}

export function invalidKey(): GatewayError {
  return new GatewayError('invalid_api_key', 'the API key is not valid');
}
