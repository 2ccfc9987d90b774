import type { GatewayError, Placement } from '../contract/index.ts';
import type { Measured, Routing } from './exchange-state.ts';

interface PlacedExchange {
  readonly routing: Routing;
  readonly measured: Measured;
  readonly error: GatewayError | undefined;
}

/** Where a request went among instances, credentials and groups, as rows and plugins have it. */
export function placementOf({ routing, measured, error }: PlacedExchange): Placement {
  const { lastTarget, credential, group, affinity } = routing;
  return {
    kind: lastTarget?.instance?.kind,
    credential,
    group: group?.name,
    affinity: error ? undefined : affinity,
    cacheSavedUsd: measured.cacheSavedUsd,
  };
}
