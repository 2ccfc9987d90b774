import type { Host } from '../../../host/host.ts';
import type { Family } from './family.ts';
import { ownFamilies } from './series-store.ts';

/** The gauges of this process, as they stand. */
export function presentGauges(host: Host): readonly Family[] {
  const families = ownFamilies(['gauge']);
  host.hooks.gauges.call({ set: (name, labels, value) => families.get(name)?.set(labels, value) }, host);
  return [...families.values()];
}
