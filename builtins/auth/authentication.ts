import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError, type Principal } from '../../host/contract/index.ts';
import { defineBuiltin } from '../../host/builtin.ts';
import type { Host } from '../../host/host.ts';
import { contextOf } from '../../host/http/context.ts';
import { type ProtectedPath, scopeRefusal } from '../../host/http/protection.ts';
import { sendError } from '../../host/http/reply.ts';
import { StoreUnavailable } from '../../host/stores/store-link.ts';
import { bearerOf, invalidKey } from '../../host/http/bearer.ts';
import { masterPrincipal } from './master-key.ts';

const NO_STORE = ['Cache-Control', 'no-store'];

/**
 * Every protected path needs a live credential before its method, its scope or its body is looked at. What is in memory answers at once;
 * a credential that is not there waits for the key store (docs/decisions/0019).
 */
export default defineBuiltin({
  name: 'authentication',
  apply: ({ hooks }) => {
    hooks.protect.tap('authentication', (protection) => {
      protection.add({ prefix: '/v1/', mayBeOpen: true, hasPages: false });
      protection.add({ prefix: '/admin/session', ownMethod: 'POST', headers: NO_STORE });
      protection.add({ prefix: '/admin/', headers: NO_STORE });
    });
    hooks.open.tapPromise('authentication', async ({ masterKey, stores }) => {
      if (masterKey !== undefined) stores.principals.supply(masterPrincipal(masterKey));
    });
    hooks.arrived.tap('authentication', (request, response, host) => {
      const path = contextOf(response).protectedBy;
      if (!path || path.ownMethod === request.method) return undefined;
      return authenticate(host, path, request, response);
    });
  },
});

type Verdict = 'answered' | undefined;

/** A promise only where memory does not know the credential. */
function authenticate(host: Host, path: ProtectedPath, request: IncomingMessage, response: ServerResponse): Verdict | Promise<Verdict> {
  const bearer = bearerOf(request);
  if (bearer instanceof GatewayError) return admit(host, path, response, undefined, bearer);
  const principal = host.stores.principals.find(bearer);
  if (principal) return admit(host, path, response, principal);
  return ask(host, path, bearer, response);
}

async function ask(host: Host, path: ProtectedPath, bearer: string, response: ServerResponse): Promise<Verdict> {
  try {
    return admit(host, path, response, await host.stores.principals.ask(bearer), invalidKey());
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return admit(host, path, response, undefined, new GatewayError('store_unavailable', 'the key store does not answer, the credential cannot be checked', { cause: error }));
  }
}

/** Lets the request go on, or answers it. Where no credential is needed, one that is not known counts as none. */
function admit(host: Host, path: ProtectedPath, response: ServerResponse, principal: Principal | undefined, refusal = invalidKey()): Verdict {
  const context = contextOf(response);
  context.principal = principal;
  context.isAdmitted = principal !== undefined || (path.mayBeOpen === true && host.settings.allowUnauthenticated);
  const outcome = context.isAdmitted ? path.scope && scopeRefusal(principal, path.scope) : refusal;
  if (!outcome) return undefined;
  sendError(response, outcome, host.redactor);
  return 'answered';
}
