import type { ProviderModule, Treatment } from '../../host/contract/index.ts';
import type { Generation } from '../../host/generation/generation.ts';
import { PARAMETERS } from '../../host/pipeline/attempts/parameters.ts';
import type { Listing } from './listing.ts';

/**
 * What each target that owns a listed model does with each chat parameter, from the modules' own data.
 * See docs/reference/data-plane.md#capabilities.
 */
export function capabilitiesOf({ targetList }: Generation, listing: Listing): object {
  const owners = new Set(listing.values().map(({ entry }) => entry.owned_by));
  const owning = targetList.flatMap(({ provider, virtualKey }) =>
    provider && owners.has(virtualKey) ? [{ name: virtualKey, module: provider.module }] : [],
  );
  return {
    providers: Object.fromEntries(owning.map(({ name, module }) => [name, treatments(module)])),
    image_response_formats: Object.fromEntries(
      owning.flatMap(({ name, module: { imageFormats } }) => (imageFormats ? [[name, imageFormats]] : [])),
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
