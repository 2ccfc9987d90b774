import type { CatalogEntry } from '../../host/common/catalog.ts';
import { turnTaker } from '../../host/common/next-turn.ts';
import type { Generation } from '../../host/generation/generation.ts';
import type { PipelineServices } from '../../host/pipeline/pipeline-services.ts';
import type { Listing } from './listing.ts';
import type { ListedModel, ModelEntry } from './model-entry.ts';

/** A model as clients of other wires may pick it: by its id, or by an alias of it. */
export interface OfferedModel {
  readonly id: string;
  /** That of the model behind an alias. */
  readonly entry: ModelEntry;
  /** What the catalog calls it; the id of what it does not know, and of what a group of models serves. */
  readonly displayName: string;
  readonly facts: CatalogEntry | undefined;
}

type Aliases = Generation['config']['aliases'];

/** The listed models, then the aliases of listed models; others are served in between. See docs/reference/ingress.md#lists-of-models. */
export async function offeredModels(
  listing: Listing,
  aliases: Aliases,
  { clock }: Pick<PipelineServices, 'clock'>,
): Promise<readonly OfferedModel[]> {
  const giveWay = turnTaker(clock);
  const offered: OfferedModel[] = [];
  for (const [id, listed] of listing) {
    offered.push(offeredAs(id, listed));
    const others = giveWay();
    if (others) await others;
  }
  for (const [alias, model] of Object.entries(aliases)) {
    const listed = listing.get(model);
    if (listed && !listing.has(alias)) offered.push(offeredAs(alias, listed));
  }
  return offered;
}

/** One of them; `find` looks up what is listed under a name. */
export function offeredModel(
  id: string,
  find: (name: string) => ListedModel | undefined,
  aliases: Aliases,
): OfferedModel | undefined {
  const listed = find(id) ?? (Object.hasOwn(aliases, id) ? find(aliases[id] ?? '') : undefined);
  return listed && offeredAs(id, listed);
}

function offeredAs(id: string, { entry, facts, isOfGroup }: ListedModel): OfferedModel {
  return { id, entry, facts, displayName: (!isOfGroup && facts?.display_name) || id };
}
