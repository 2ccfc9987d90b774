import { timingSafeEqual } from 'node:crypto';
import { GatewayError, type Principal } from '../../host/contract/index.ts';
import { defineBuiltin } from '../../host/builtin.ts';
import type { Host } from '../../host/host.ts';
import { contextOf, rawPath } from '../../host/http/context.ts';
import { sendError } from '../../host/http/reply.ts';

const MASTER: Principal = Object.freeze({ id: 'master-key', name: 'master-key', scopes: Object.freeze(['admin', 'read_only'] as const) });

/** Every `/v1/*` path needs a live credential, whatever its scope, before the method is looked at. */
export default defineBuiltin({
  name: 'authentication',
  apply: ({ hooks }) => {
    hooks.arrived.tap('authentication', (request, response, host) => {
      if (!rawPath(request).startsWith('/v1/')) return undefined;
      const { principal, refusal } = authenticate(host, request.headers.authorization);
      const context = contextOf(response);
      context.principal = principal;
      context.isAdmitted = principal !== undefined || host.settings.allowUnauthenticated;
      if (context.isAdmitted) return undefined;
      sendError(response, refusal ?? invalidKey(), host.redactor, ['WWW-Authenticate', 'Bearer']);
      return 'answered';
    });
  },
});

interface Authenticated {
  readonly principal: Principal | undefined;
  readonly refusal?: GatewayError;
}

/** The credential of a bearer header. Without the scheme or the token it is missing; with another token invalid. */
function authenticate(host: Host, header: string | undefined): Authenticated {
  const token = header === undefined ? undefined : /^Bearer +(\S+) *$/i.exec(header)?.[1];
  if (token === undefined) {
    return { principal: undefined, refusal: new GatewayError('missing_api_key', 'the Authorization header is missing, or its scheme is not Bearer') };
  }
  return isEqual(token, host.masterKey) ? { principal: MASTER } : { principal: undefined, refusal: invalidKey() };
}

function invalidKey(): GatewayError {
  return new GatewayError('invalid_api_key', 'the API key is not valid');
}

/** Compares in constant time; only the length shows. */
function isEqual(given: string, expected: string | undefined): boolean {
  if (!expected || given.length !== expected.length) return false;
  const a = Buffer.from(given);
  const b = Buffer.from(expected);
  return a.length === b.length && timingSafeEqual(a, b);
}
