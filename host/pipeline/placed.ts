import type { Affinity, Placement } from '../contract/index.ts';
import type { Measured, Routing } from './exchange-state.ts';

interface PlacedExchange {
  readonly routing: Routing;
  readonly measured: Measured;
  readonly affinity: Affinity | undefined;
}

/** Where a request went among instances, credentials and groups, as rows and plugins have it. */
export function placementOf({ routing, measured, affinity }: PlacedExchange): Placement {
  const { lastTarget, credential, group } = routing;
  return {
    kind: lastTarget?.instance?.kind,
    credential,
    group: group?.name,
    affinity,
    cacheSavedUsd: measured.cacheSavedUsd,
  };
}
