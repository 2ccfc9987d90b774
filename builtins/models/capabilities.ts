import type { ProviderModule, Treatment } from '../../host/contract/index.ts';
import type { Generation } from '../../host/generation/generation.ts';
import { PARAMETERS } from '../../host/pipeline/attempts/parameters.ts';
import type { ModelEntry } from './listing.ts';

/**
 * What each provider that owns a listed model does with each chat parameter, from the modules' own data.
 * See docs/reference/data-plane.md#capabilities.
 */
export function capabilitiesOf({ targetList }: Generation, listed: Iterable<ModelEntry>): object {
  const owners = new Set([...listed].map((entry) => entry.owned_by));
  const named = targetList.flatMap(({ provider, virtualKey }) =>
    provider && owners.has(virtualKey) ? [[virtualKey, provider.module] as const] : [],
  );
  return {
    providers: Object.fromEntries(named.map(([name, module]) => [name, treatments(module)])),
    image_response_formats: Object.fromEntries(
      named.flatMap(([name, { imageFormats }]) => (imageFormats ? [[name, imageFormats]] : [])),
    ),
  };
}

function treatments({ params }: ProviderModule): Readonly<Record<string, string>> {
  return Object.fromEntries(PARAMETERS.map((name) => [name, wordOf(params[name] ?? 'forward')]));
}

/** A renamed parameter travels all the same. */
function wordOf(treatment: Treatment): string {
  return typeof treatment === 'object' ? 'forward' : treatment;
}
