import type { ProviderInstance } from '../../upstream/instance.ts';
import type { GenerationHooks } from '../hooks.ts';
import type { LiveExchange } from '../live-exchange.ts';
import type { Target } from '../target.ts';

/** The vendor account that reads what a request's earlier turns hold: that of its session's first credential, without a session the first entry's. */
export function boundAccount(
  exchange: LiveExchange,
  target: Target,
  { credentialOrder }: Pick<GenerationHooks, 'credentialOrder'>,
): string | undefined {
  const { instance } = target;
  if (!instance) return undefined;
  const upstreamModel = target.upstreamModel(exchange.routing.fallback ?? exchange.model);
  const [first] = credentialOrder.call(exchange, instance, upstreamModel) ?? instance.credentials;
  return first?.vendorAccount;
}

/** Whether a target has a credential of a vendor account. A label that the operator wrote means the same in all instances of a kind. */
export function holdsAccount(target: Target, home: Target, account: string): boolean {
  if (target.virtualKey === home.virtualKey) return true;
  if (target.instance?.kind !== home.instance?.kind) return false;
  return target.instance?.credentials.some((one) => one.isLabelled && one.vendorAccount === account) === true;
}

/** Whether the credentials of an instance are of several vendor accounts. */
export const hasSeveralAccounts = ({ credentials }: ProviderInstance): boolean =>
  credentials.some(({ vendorAccount }) => vendorAccount !== credentials[0]?.vendorAccount);
