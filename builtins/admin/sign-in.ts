import { GatewayError } from '../../host/contract/index.ts';
import type { HostPrincipal } from '../../host/common/host-principal.ts';
import type { Host } from '../../host/host.ts';
import { bearerOf, invalidKey } from '../../host/http/bearer.ts';
import { limiterKey } from '../../host/http/client-address.ts';
import type { JsonAnswer, JsonCall, JsonRoute } from '../../host/http/json-route.ts';
import { createBuckets, type Taken } from '../../host/state/buckets.ts';
import type { Auditor } from './auditor.ts';
import { changing } from './store-calls.ts';
import { timestamp } from '../../host/common/timestamps.ts';

/** Attempts of one address, good or bad. See docs/reference/admin.md#signing-in. */
const ATTEMPTS = { ratePerSecond: 10 / 60, burst: 20 };
const MOST_ADDRESSES = 10_000;
const ACTION = 'session.create';

/** A key, or the master key, becomes a session. The route has a limit of its own and looks at the credential itself. See docs/reference/admin.md#signing-in. */
export function signInRoute(host: Host, auditor: Auditor): JsonRoute {
  const {
    counters,
    services: { clock },
    stores,
    limits,
  } = host;
  const buckets = createBuckets(MOST_ADDRESSES);

  /** Where replicas hold limits together an attempt waits for their answer, so that guessing gains nothing from using several. */
  const limit = async (address: string): Promise<void> => {
    const key = limiterKey(address);
    const { taken, retryAfterMs } = limits.isShared
      ? await takeShared(limits, key)
      : buckets.take(key, ATTEMPTS, clock.monotonic());
    if (taken) return;
    counters.add('gateway_rate_limit_rejections_total', { key_type: 'admin_session' });
    throw new GatewayError('rate_limit_exceeded', 'too many attempts to sign in from this address', { retryAfterMs });
  };
  return {
    method: 'POST',
    path: '/admin/session',
    scope: 'open',
    answer: async (call) => {
      await limit(call.context.address);
      const bearer = bearerOf(call.request);
      if (bearer instanceof GatewayError) throw bearer;
      return signIn(call, bearer, { stores, auditor });
    },
  };
}

async function takeShared(limits: Host['limits'], key: string): Promise<Taken> {
  const spec = { ...ATTEMPTS, group: 'attempts to sign in' };
  const { refusedAt, retryAfterMs } = await limits.takeAll([{ key, spec, cost: 1, floor: 1 }]);
  return { taken: refusedAt === undefined, retryAfterMs };
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
