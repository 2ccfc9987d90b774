import type { Entry } from '../reading.ts';
import type { ServingKey } from './keys.ts';

/** Weights of the providers that virtual keys name: those of the first one that says any. Source: docs.getbifrost.ai, "Governance", 2026-11-22. */
export function sharesOf(
  root: Entry,
  serving: ReadonlyMap<string, readonly ServingKey[]>,
): ReadonlyMap<string, { readonly weight: number; readonly entry: Entry }> {
  const shares = new Map<string, { readonly weight: number; readonly entry: Entry }>();
  for (const key of root.at('governance').at('virtual_keys').items)
    for (const config of key.at('provider_configs').items) {
      const [provider, weight] = [config.at('provider'), config.at('weight')];
      const name = provider.text ?? '';
      if (!serving.has(name) || weight.number === undefined || weight.number < 0) continue;
      const known = shares.get(name);
      if (known && known.weight !== weight.number)
        weight.leave(`${known.entry.where} comes first, and weights hold for every client here`);
      else {
        if (!known) shares.set(name, { weight: weight.number, entry: weight });
        provider.carry();
        weight.carry('it holds for every client, not for one key');
      }
    }
  const isUseful = [...shares.values()].some(({ weight }) => weight > 0);
  if (!isUseful) for (const { entry } of shares.values()) entry.amend('not carried: no provider has a weight above 0');
  return isUseful ? shares : new Map();
}
