import type { Counters } from '../../contract/index.ts';

/** A provider, of the environment or declared, could not be set up. */
export const countInitFailure = (counters: Counters, provider: string): void =>
  counters.add('gateway_provider_init_failures_total', { provider });

/** A look at the secrets of a credential found another value, or none any more. */
export const countRefresh = (
  counters: Counters,
  of: { readonly provider: string; readonly credential: string },
  result: 'changed' | 'failed',
): void => counters.add('gateway_secret_refreshes_total', { ...of, result });
