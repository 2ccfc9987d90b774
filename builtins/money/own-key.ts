import { sessionIn } from '../../host/common/session-headers.ts';
import { timezoneOf } from '../../host/config/rules/account-rules.ts';
import { GatewayError } from '../../host/contract/index.ts';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import { Windows } from '../../host/common/budgets/windows.ts';
import type { HostPrincipal } from '../../host/common/host-principal.ts';
import { timestamp } from '../../host/common/timestamps.ts';
import { HOUR_MS } from '../../host/common/once-per.ts';
import type { Host } from '../../host/host.ts';
import { type JsonAnswer, type JsonCall, mountJsonBeside } from '../../host/http/json-route.ts';
import { accessOf } from '../../host/stores/keys/access-of-keys.ts';
import { StoreUnavailable } from '../../host/stores/store-link.ts';
import { OwnBudgets } from './own-budgets.ts';
import { priceRuleOf } from './prices/price-rules.ts';

/** `GET /v1/key`: what the credential that asks may use, and what of it is left. With `X-Provider` the provider is asked instead. See docs/surfaces.md#the-key-that-asks. */
export default defineBuiltin({
  name: 'own-key',
  apply: ({ hooks }) =>
    hooks.mount.tap({ name: 'own-key', stage: ORDER.listings }, (router, host) => {
      const budgets = new OwnBudgets(
        () => host.stores.ledgers.value,
        () => host.current?.accounts,
      );
      const answer = (call: JsonCall): Promise<JsonAnswer> | undefined =>
        call.request.headers['x-provider'] === undefined ? shown(host, budgets, call) : undefined;
      mountJsonBeside(router, host, {
        method: 'GET',
        path: '/v1/key',
        scope: 'admitted',
        headers: ['Cache-Control', 'no-store'],
        answer,
      });
    }),
});

async function shown(
  host: Host,
  budgets: OwnBudgets,
  { principal, limits = {}, request, signal }: JsonCall,
): Promise<JsonAnswer> {
  if (!principal) throw new GatewayError('authentication_required', 'this route needs a credential');
  const { id, scopes, issuer } = principal;
  const key = host.stores.keys.parent(id); // in memory, since the request was let in by it
  const name = key?.name ?? principal.name;
  const expiresAt = key?.expiresAt ?? principal.expiresAt;
  const { account, models, providers, tags = [], rpm, tpm, max_parallel } = limits;
  return {
    status: 200,
    body: {
      object: 'key',
      id,
      name,
      kind: kindOf(principal, key !== undefined),
      access: accessOf(principal),
      scopes,
      issuer,
      expires_at: expiresAt === undefined ? undefined : timestamp(expiresAt),
      account,
      models,
      providers,
      tags,
      rpm,
      tpm,
      max_parallel,
      unpriced: host.current ? (priceRuleOf(limits, host.current.config)?.rule ?? 'allow') : 'allow',
      budgets: budgets.of({ id, name, session: sessionIn(request.headers) }, limits, host.services.clock.now()),
      spend: await spendOf(host, id, signal),
    },
  };
}

function kindOf({ sessionId, issuer }: HostPrincipal, isKey: boolean): 'session' | 'identity' | 'key' | 'master' {
  if (sessionId !== undefined) return 'session';
  if (issuer !== undefined) return 'identity';
  return isKey ? 'key' : 'master';
}

/** Without a ledger, and while its store does not answer, nothing is said of it. */
async function spendOf(
  { stores: { spend }, services: { clock }, current }: Host,
  id: string,
  signal: AbortSignal,
): Promise<object | undefined> {
  const now = clock.now();
  const zone = current ? timezoneOf(current.config) : 'UTC';
  const hourAt = (kind: 'day' | 'month'): number =>
    Math.floor(new Windows({ kind, zone, at: 0, on: kind === 'month' ? 1 : 0 }).at(now).beginsAt / HOUR_MS);
  const edges = [...new Set([hourAt('month'), hourAt('day')])];
  const range = { from: hourAt('month'), to: Math.floor(now / HOUR_MS) + 1, edges };
  try {
    const found = await spend.value?.read({ ...range, by: [], filters: { key_id: id } }, signal);
    if (!found) return undefined;
    const sum = (least: number): number =>
      found.groups.reduce((all, { bucket, micro_usd: micro }) => (bucket < least ? all : all + micro), 0) / 1e6;
    return { today_usd: sum(edges.length - 1), month_usd: sum(0) };
  } catch (error) {
    if (error instanceof StoreUnavailable) return undefined;
    throw error;
  }
}
