import { GatewayError } from '../../host/contract/index.ts';
import type { HostPrincipal } from '../../host/common/host-principal.ts';
import type { Host } from '../../host/host.ts';
import { bearerOf, invalidKey } from '../../host/http/bearer.ts';
import type { JsonAnswer, JsonCall, JsonRoute } from '../../host/http/json-route.ts';
import type { TakeAttempt } from './identity/attempts.ts';
import type { Auditor } from './auditor.ts';
import { changing } from './store-calls.ts';
import { timestamp } from '../../host/common/timestamps.ts';

const ACTION = 'session.create';

/** A key, or the master key, becomes a session. The route has a limit of its own and looks at the credential itself. See docs/reference/admin.md#signing-in. */
export function signInRoute({ stores }: Host, auditor: Auditor, take: TakeAttempt): JsonRoute {
  return {
    method: 'POST',
    path: '/admin/session',
    scope: 'open',
    answer: async (call) => {
      await take(call.context.address);
      const bearer = bearerOf(call.request);
      if (bearer instanceof GatewayError) throw bearer;
      return signIn(call, bearer, { stores, auditor });
    },
  };
}

async function signIn(
  { context }: JsonCall,
  credential: string,
  { stores, auditor }: Pick<Host, 'stores'> & { readonly auditor: Auditor },
): Promise<JsonAnswer> {
  const { principals, sessions } = stores;
  let principal: HostPrincipal | undefined;
  try {
    principal = await changing(principals.identify(credential));
    if (!principal) throw invalidKey();
    const { id, name, scopes } = principal;
    if (scopes.length === 0) throw new GatewayError('insufficient_scope', 'this key is for inference only');
    const {
      token,
      session: { subject, expiresAt },
    } = await changing(sessions.create({ credentialId: id, subject: name, scopes }));
    auditor.record({ context, principal }, { action: ACTION, target: id, outcome: 'ok', detail: { subject } });
    return { status: 201, body: { token, subject, scopes, expires_at: timestamp(expiresAt) } };
  } catch (error) {
    auditor.failed({ context, principal }, { action: ACTION, target: '*', error });
    throw error;
  }
}
