import type { IncomingMessage } from 'node:http';
import { type Counters, GatewayError } from '../../host/contract/index.ts';
import { type Binding, Bindings } from '../../host/common/accounts/bindings.ts';
import type { HostPrincipal } from '../../host/common/host-principal.ts';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import type { Host } from '../../host/host.ts';
import { credentialsOf, unknownKey } from '../../host/http/credentials.ts';
import type { RequestContext } from '../../host/http/context.ts';
import { type ProtectedPath, scopeRefusal } from '../../host/http/protection.ts';
import type { Arrival, Refusal } from '../../host/http/reply.ts';
import { type Eventual, tapEventual } from '../../host/pipeline/eventual.ts';
import type { EndedKey } from '../../host/stores/credential-standing.ts';
import { StoreUnavailable } from '../../host/stores/store-link.ts';
import { KeyRates, type TooSoon } from './key-rates.ts';
import { masterPrincipal } from './master-key.ts';
import { SHARED_KEY_RATES } from './shared-key-rates.ts';

const NO_STORE = ['Cache-Control', 'no-store'];

/**
 * Every protected path needs a live credential before its method, its scope or its body is looked at. What is in memory answers at once;
 * a credential that is not there waits for the key store (docs/decisions/0019).
 */
export default defineBuiltin({
  name: 'authentication',
  apply: ({ hooks }) => {
    const rates = new KeyRates();
    const bindings = new Bindings();
    hooks.protect.tap('authentication', (protection) => {
      protection.add({ prefix: '/v1/', plane: 'data', mayBeOpen: true, isLimited: true, hasPages: false });
      protection.add({ prefix: '/v1beta/', plane: 'data', mayBeOpen: true, isLimited: true, hasPages: false });
      protection.add({ prefix: '/admin/session', ownMethod: 'POST', headers: NO_STORE });
      protection.add({ prefix: '/admin/', headers: NO_STORE });
    });
    hooks.open.tapPromise('authentication', async ({ masterKey, stores }) => {
      if (masterKey !== undefined) stores.principals.supply(masterPrincipal(masterKey));
    });
    hooks.arrived.tap('authentication', (request, context, host) => {
      const path = context.protectedBy;
      if (!path || path.ownMethod === request.method) return undefined;
      return authenticate({ host, path, rates, bindings, context }, request);
    });
    hooks.assemble.tapPromise(
      'authentication',
      async ({ hooks: pipeline, config: { money }, services: { clock, counters } }, host) => {
        const shared = host?.limits;
        if (money.tags)
          tapEventual(pipeline.charge, { name: 'authentication', stage: ORDER.broughtRates }, (exchange) => {
            const { broughtLevels } = exchange;
            if (broughtLevels.length === 0) return undefined;
            exchange.broughtLevels = [];
            const limits = { levels: broughtLevels };
            const limited = shared?.isShared
              ? SHARED_KEY_RATES.refusal(shared, undefined, limits)
              : rates.refusal(undefined, limits, clock.monotonic());
            return limited instanceof Promise
              ? limited.then((late) => counted(late, counters))
              : counted(limited, counters);
          });
        pipeline.finished.tap('authentication', ({ principal, limits, charged, answeredBy }) => {
          if (!limits || !charged || answeredBy !== undefined) return;
          const { total_tokens: tokens } = charged;
          if (shared?.isShared) SHARED_KEY_RATES.debit(shared, principal?.id, limits, tokens);
          else rates.debit(principal?.id, limits, tokens, clock.monotonic());
        });
      },
    );
  },
});

/** One request at the door. */
interface Entry {
  readonly host: Host;
  readonly path: ProtectedPath;
  readonly rates: KeyRates;
  readonly bindings: Bindings;
  readonly context: RequestContext;
}

/** The first credential that is valid counts. A promise only where memory knows none of them. */
function authenticate(entry: Entry, request: IncomingMessage): Arrival {
  const credentials = credentialsOf(request, entry.context);
  if (credentials instanceof GatewayError) return admit(entry, undefined, undefined, credentials);
  const { principals } = entry.host.stores;
  const { queryKeys } = entry.context;
  if (queryKeys?.some((key) => principals.isToken(key))) return admit(entry, undefined); // what stands in an address is kept by others
  for (const credential of credentials) {
    const digest = principals.digestOf(credential);
    const principal = principals.find(credential, digest);
    if (principal) return admit(entry, principal, digest);
  }
  return ask(entry, credentials);
}

async function ask(entry: Entry, credentials: readonly string[]): Promise<Refusal | undefined> {
  try {
    const { context, host } = entry;
    const { principals } = host.stores;
    const ended: EndedKey[] = [];
    let refused: GatewayError | undefined;
    for (const credential of credentials) {
      const digest = principals.digestOf(credential);
      const asked = { address: context.address, onEnded: (key: EndedKey) => ended.push(key) };
      const principal = await principals.ask(credential, digest, asked).catch(asRefusal);
      if (principal instanceof GatewayError) refused ??= principal; // another credential may count
      if (!principal || principal instanceof GatewayError) continue;
      const refusal = await admit(entry, principal, digest);
      if (principals.standing(digest, principal) !== 'stands') entry.host.running.onDoubt?.(entry.context);
      return refusal;
    }
    [context.endedKey] = ended;
    return await admit(entry, undefined, undefined, refused);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return admit(
      entry,
      undefined,
      undefined,
      new GatewayError('store_unavailable', 'the key store does not answer, the credential cannot be checked', {
        cause: error,
      }),
    );
  }
}

function asRefusal(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  throw error;
}

/** Lets the request go on, for as long as its credential stands, or says why not. Where no credential is needed, one that is not known counts as none. A promise only where replicas hold a limit of it together. */
function admit(entry: Entry, principal: HostPrincipal | undefined, digest?: string, refusal?: GatewayError): Arrival {
  const { host, path, context } = entry;
  const tree = host.current?.accounts.tree();
  const binding = tree && entry.bindings.of(principal, tree);
  context.principal = principal;
  context.limits = binding ? binding.limits : principal?.limits;
  if (digest !== undefined && host.stores.principals.mayEnd(digest)) host.running.add(context, digest);
  context.isAdmitted = principal !== undefined || (path.mayBeOpen === true && host.settings.allowUnauthenticated);
  const error = context.isAdmitted ? outOfBounds(entry, binding) : (refusal ?? unknownKey(context));
  return error instanceof Promise ? error.then(refusalOf) : refusalOf(error);
}

const refusalOf = (error: GatewayError | undefined): Refusal | undefined => error && { error };

/** What a credential that counts may not do. */
function outOfBounds(
  { host: { counters, services, limits: shared }, path, rates, context: { principal, limits } }: Entry,
  binding: Binding | undefined,
): Eventual<GatewayError | undefined> {
  const scope = path.scope && scopeRefusal(principal, path.scope);
  if (scope || !path.isLimited) return scope;
  if (binding?.refusal !== undefined) return new GatewayError('access_blocked', binding.refusal);
  if (!limits) return undefined;
  if (shared?.isShared)
    return SHARED_KEY_RATES.refusal(shared, principal?.id, limits)?.then((late) => counted(late, counters));
  return counted(rates.refusal(principal?.id, limits, services.clock.monotonic()), counters);
}

function counted(limited: TooSoon | undefined, counters: Counters): GatewayError | undefined {
  if (limited) counters.add('gateway_rate_limit_rejections_total', { key_type: limited.of });
  return limited?.error;
}
