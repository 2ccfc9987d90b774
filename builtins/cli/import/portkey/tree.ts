import { rounded } from '../amounts.ts';
import type { Entry } from '../reading.ts';
import { isStatus, type PlacedLeaf } from './leaf.ts';

/** Targets that share requests; what fails there goes on to the next tier. */
export type Tier = readonly { readonly leaf: PlacedLeaf; readonly share: number }[];

type Placed = ReadonlyMap<string, PlacedLeaf>;

/**
 * Groups within groups as tiers. Shares are multiplied out; a list of lists is one list. A group that is drawn has what
 * each part of it asks first: what would follow one part alone is not carried.
 */
export function readTree(entry: Entry, placed: Placed, isRoot = true): readonly Tier[] {
  const { items } = entry.at('targets');
  if (items.length === 0) {
    const leaf = placed.get(entry.where);
    return leaf ? [[{ leaf, share: 1 }]] : [];
  }
  const mode = entry.at('strategy').at('mode');
  if (!isRoot) markInner(entry);
  const parts = items
    .map((item) => ({ item, tiers: readTree(item, placed, false) }))
    .filter(({ tiers }) => tiers.length > 0);
  if (mode.text === 'loadbalance') return drawn(parts);
  if (mode.text === 'single') return first(parts);
  return mode.text === 'conditional' && !isRoot ? conditionalWithin(entry, parts) : parts.flatMap(({ tiers }) => tiers);
}

interface Part {
  readonly item: Entry;
  readonly tiers: readonly Tier[];
}

function markInner(entry: Entry): void {
  const strategy = entry.at('strategy');
  strategy.at('mode').carry();
  for (const code of strategy.at('on_status_codes', 'onStatusCodes').items)
    code.leave('the outermost group says after which statuses the next target is asked');
}

function drawn(parts: readonly Part[]): readonly Tier[] {
  const weights = parts.map(({ item }) => item.at('weight').number ?? 1).map((weight) => Math.max(weight, 0));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const shared = parts.flatMap(({ item, tiers: [tier = [], ...later] }, at) => {
    const share = sum > 0 ? (weights[at] ?? 0) / sum : 1 / parts.length;
    const isInner = item.at('targets').items.length > 0;
    const shown = rounded(share);
    item.at('weight').carry(isInner ? `multiplied out: ${shown} of all` : undefined);
    for (const { leaf } of later.flat())
      leaf.entry.leave('it follows one part of a group that is drawn; gw has followers of whole groups');
    return tier.map((one) => ({ leaf: one.leaf, share: one.share * share }));
  });
  return shared.length === 0 ? [] : [shared];
}

function first([part, ...others]: readonly Part[]): readonly Tier[] {
  for (const { item } of others) item.leave('the strategy takes the first target only');
  return part?.tiers ?? [];
}

function conditionalWithin(entry: Entry, parts: readonly Part[]): readonly Tier[] {
  entry.at('strategy').at('conditions').leave('gw asks conditions of the outermost group only');
  return first(parts);
}

/** Statuses after which the next target is asked. */
export function statusesIn(strategy: Entry): readonly number[] {
  const codes = strategy.at('on_status_codes', 'onStatusCodes').items.filter(isStatus);
  for (const code of codes) code.carry('gw goes on after failed connections, timeouts, 408, 429 and 5xx as well');
  return codes.flatMap(({ number }) => number ?? []);
}
