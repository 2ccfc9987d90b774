import { GatewayError } from '../../host/contract/index.ts';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import type { HostPrincipal } from '../../host/common/host-principal.ts';
import type { Host } from '../../host/host.ts';
import { type JsonAnswer, type JsonCall, mountJsonBeside } from '../../host/http/json-route.ts';
import { OwnBudgets, unpricedWord } from './own-budgets.ts';

/** `GET /v1/key`: what the credential that asks may use, and what of it is left. With `X-Provider` the provider is asked instead. See docs/surfaces.md#the-key-that-asks. */
export default defineBuiltin({
  name: 'own-key',
  apply: ({ hooks }) =>
    hooks.mount.tap({ name: 'own-key', stage: ORDER.listings }, (router, host) => {
      const budgets = new OwnBudgets(() => host.stores.ledgers.value);
      const answer = ({ request, principal }: JsonCall): JsonAnswer | undefined =>
        request.headers['x-provider'] === undefined ? shown(host, budgets, principal) : undefined;
      mountJsonBeside(router, host, {
        method: 'GET',
        path: '/v1/key',
        scope: 'admitted',
        headers: ['Cache-Control', 'no-store'],
        answer,
      });
    }),
});

function shown(host: Host, budgets: OwnBudgets, principal: HostPrincipal | undefined): JsonAnswer {
  if (!principal) throw new GatewayError('authentication_required', 'this route needs a credential');
  const { id, limits = {} } = principal;
  const key = host.stores.keys.parent(id); // in memory, since the request was let in by it
  const name = key?.name ?? principal.name;
  const { models, providers, tags = [], rpm, tpm } = limits;
  return {
    status: 200,
    body: {
      object: 'key',
      id,
      name,
      expires_at:
        key?.expiresAt === undefined ? undefined : new Date(key.expiresAt).toISOString().replace('.000Z', 'Z'),
      models,
      providers,
      tags,
      rpm,
      tpm,
      unpriced: host.current ? unpricedWord(limits, host.current.config) : 'allow',
      budgets: budgets.of(principal, name, host.services.clock.now()),
    },
  };
}
