import type { Catalog } from '../../host/common/catalog.ts';
import type { Clock } from '../../host/common/clock.ts';
import type { KeyLimits } from '../../host/common/host-principal.ts';
import { turnTaker } from '../../host/common/next-turn.ts';
import type { Generation } from '../../host/generation/generation.ts';
import { listsModels, mayAsk, mayServe } from '../../host/pipeline/key-access.ts';
import { type CreatedOf, GroupListing, type ListingCall } from './group-listing.ts';
import { type ListedModel, modelEntry } from './model-entry.ts';
import { reachedOwner } from './reached.ts';

export interface ListingDeps {
  readonly catalog: Catalog;
  readonly createdOf: CreatedOf;
  readonly clock: Pick<Clock, 'monotonic'>;
}

export type Listing = ReadonlyMap<string, ListedModel>;

/**
 * Everything clients may ask for, or of it what one key may: each id once, owned by the first target in target order that serves it under the
 * strategy in force; what the strategy would refuse is left out. What groups of models serve stands first, and is not listed by targets. Others
 * are served in between. See docs/surfaces.md#which-models-there-are.
 */
export async function listModels(generation: Generation, deps: ListingDeps, limits: KeyLimits = {}): Promise<Listing> {
  const listing = new Map<string, ListedModel>();
  const isAsked = asking(limits, generation.config.aliases);
  const calling = { generation, limits, catalog: deps.catalog, createdOf: deps.createdOf };
  const giveWay = turnTaker(deps.clock);
  for (const model of allModels(calling, (id) => !listing.has(id) && isAsked(id))) {
    listing.set(model.entry.id, model);
    const others = giveWay();
    if (others) await others;
  }
  return listing;
}

/** Whether a key may ask for each of many models. */
function asking(limits: KeyLimits, aliases: Readonly<Record<string, string>>): (id: string) => boolean {
  const { models, levels } = limits;
  if (listsModels({ levels })) return (id) => mayAsk(limits, id, aliases);
  if (!models) return () => true;
  const allowed = new Set(models);
  for (const name of models) {
    const model = Object.hasOwn(aliases, name) ? aliases[name] : undefined;
    if (model !== undefined) allowed.add(model);
  }
  return (id) => allowed.has(id);
}

/** One after another, each once if `isWanted` says so. */
function* allModels(calling: ListingCall, isWanted: (id: string) => boolean): Generator<ListedModel> {
  const { generation, limits } = calling;
  const groups = generation.groups && new GroupListing(calling, generation.groups);
  if (groups) yield* groups.models(isWanted);
  for (const { virtualKey, provider } of generation.targetList) {
    const isAllowed = provider !== undefined && mayServe(limits, virtualKey);
    if (!isAllowed && !groups) continue;
    for (const id of generation.models.advertised(virtualKey)) {
      if (!isWanted(id)) continue;
      const group = groups?.groupOf(id);
      const model = group ? groups?.owned(id, group) : isAllowed ? ownedModel(calling, id) : undefined;
      if (model) yield model;
    }
  }
}

/** A model that targets own. */
function ownedModel(calling: ListingCall, id: string): ListedModel | undefined {
  const target = reachedOwner(calling, id);
  if (!target) return undefined;
  const owner = target.virtualKey;
  const facts = calling.catalog.entry(target.catalogProvider, id);
  return { entry: modelEntry(id, { owner, facts, created: calling.createdOf(owner, id) }), facts, isOfGroup: false };
}
