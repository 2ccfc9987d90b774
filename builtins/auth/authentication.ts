import { GatewayError, type Principal } from '../../host/contract/index.ts';
import { defineBuiltin } from '../../host/builtin.ts';
import type { Host } from '../../host/host.ts';
import { rawPath } from '../../host/http/context.ts';
import { scopeRefusal } from '../../host/http/protection.ts';
import { digestOf, KnownDigests, PrincipalTable } from '../../host/stores/principals.ts';

const MASTER: Principal = Object.freeze({ id: 'master-key', name: 'master-key', scopes: Object.freeze(['admin', 'read_only'] as const) });

/** Every protected path needs a live credential before the method is looked at; of `/v1/*` any scope will do. */
export default defineBuiltin({
  name: 'authentication',
  apply: ({ hooks }) => {
    hooks.protect.tap('authentication', (protection) => protection.add({ prefix: '/v1/', mayBeOpen: true, hasPages: false }));
    hooks.open.tapPromise('authentication', async ({ masterKey, stores }) => {
      const environment = new PrincipalTable();
      if (masterKey !== undefined) environment.set(digestOf(masterKey), MASTER);
      stores.principals.supply(environment);
    });
    const known = new KnownDigests();
    hooks.arrived.tap('authentication', (request, context, host) => {
      const path = host.protection.of(rawPath(request));
      if (!path) return undefined;
      const { principal, refusal } = authenticate(host, known, request.headers.authorization);
      context.principal = principal;
      context.isAdmitted = principal !== undefined || (path.mayBeOpen === true && host.settings.allowUnauthenticated);
      const outcome = context.isAdmitted ? path.scope && scopeRefusal(principal, path.scope) : refusal ?? invalidKey();
      return outcome && { error: outcome, headers: outcome.status === 401 ? ['WWW-Authenticate', 'Bearer'] : [] };
    });
  },
});

interface Authenticated {
  readonly principal: Principal | undefined;
  readonly refusal?: GatewayError;
}

/** The credential of a bearer header. Without the scheme or the token it is missing; with a token that nobody has, invalid. */
function authenticate({ stores }: Host, known: KnownDigests, header: string | undefined): Authenticated {
  const token = header === undefined ? undefined : /^Bearer +(\S+) *$/i.exec(header)?.[1];
  if (token === undefined) {
    return { principal: undefined, refusal: new GatewayError('missing_api_key', 'the Authorization header is missing, or its scheme is not Bearer') };
  }
  const digest = known.of(token);
  const principal = stores.principals.find(digest);
  if (!principal) return { principal: undefined, refusal: invalidKey() };
  known.keep(token, digest);
  return { principal };
}

function invalidKey(): GatewayError {
  return new GatewayError('invalid_api_key', 'the API key is not valid');
}
