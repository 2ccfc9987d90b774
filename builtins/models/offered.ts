import type { Catalog, CatalogEntry } from '../../host/common/catalog.ts';
import { turnTaker } from '../../host/common/next-turn.ts';
import type { Generation } from '../../host/generation/generation.ts';
import type { PipelineServices } from '../../host/pipeline/pipeline-services.ts';
import type { ModelEntry } from './listing.ts';

/** A model as clients of other wires may pick it: by its id, or by an alias of it. */
export interface OfferedModel {
  readonly id: string;
  /** That of the model behind an alias. */
  readonly entry: ModelEntry;
  readonly facts: CatalogEntry | undefined;
}

type Listing = ReadonlyMap<string, ModelEntry>;
type Offering = Pick<Generation, 'config' | 'targets'>;

/** The listed models, then the aliases of listed models; others are served in between. See docs/reference/ingress.md#lists-of-models. */
export async function offeredModels(
  listing: Listing,
  generation: Offering,
  { catalog, clock }: Pick<PipelineServices, 'catalog' | 'clock'>,
): Promise<readonly OfferedModel[]> {
  const giveWay = turnTaker(clock);
  const offered: OfferedModel[] = [];
  for (const [id, entry] of listing) {
    offered.push(offeredAs(id, entry, generation, catalog));
    const others = giveWay();
    if (others) await others;
  }
  for (const [alias, model] of Object.entries(generation.config.aliases)) {
    const entry = listing.get(model);
    if (entry && !listing.has(alias)) offered.push(offeredAs(alias, entry, generation, catalog));
  }
  return offered;
}

/** One of them. */
export function offeredModel(
  id: string,
  listing: Listing,
  generation: Offering,
  catalog: Catalog,
): OfferedModel | undefined {
  const { aliases } = generation.config;
  const entry = listing.get(id) ?? (Object.hasOwn(aliases, id) ? listing.get(aliases[id] ?? '') : undefined);
  return entry && offeredAs(id, entry, generation, catalog);
}

function offeredAs(id: string, entry: ModelEntry, { targets }: Offering, catalog: Catalog): OfferedModel {
  return { id, entry, facts: catalog.entry(targets.get(entry.owned_by)?.catalogProvider ?? entry.owned_by, entry.id) };
}
