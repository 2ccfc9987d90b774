import type { BoundGroup } from '../../host/generation/groups/bound-group.ts';
import type { GroupIndex } from '../../host/generation/groups/model-groups.ts';
import { isOffered, namesOffered } from '../../host/generation/groups/offered-names.ts';
import { type ListedModel, modelEntry } from './model-entry.ts';
import { type Calling, reachedRoute } from './reached.ts';

export type CreatedOf = (provider: string, model: string) => number;

export interface ListingCall extends Calling {
  readonly createdOf: CreatedOf;
}

/** Names of groups with a star that are listed, of all groups together. */
const MOST_NAMES = 10_000;

/** What groups of models add to a list. See docs/surfaces.md#which-models-there-are. */
export class GroupListing {
  readonly #calling: ListingCall;
  readonly #groups: GroupIndex<BoundGroup>;
  #names = 0;

  constructor(calling: ListingCall, groups: GroupIndex<BoundGroup>) {
    this.#calling = calling;
    this.#groups = groups;
  }

  /** Exact groups in the order of the file, then what groups with a star stand for. */
  *models(isWanted: (id: string) => boolean): Generator<ListedModel> {
    const listed = this.#groups.list.filter(({ isListed }) => isListed);
    for (const group of listed) {
      if (group.matched === 'prefix' || !isWanted(group.name)) continue;
      const model = this.#model(group.name, group);
      if (model) yield model;
    }
    for (const group of listed) {
      if (group.matched === 'exact') continue;
      for (const name of namesOffered(group, this.#calling.generation.models)) {
        const model = isWanted(name) && this.groupOf(name) === group ? this.owned(name, group) : undefined;
        if (model) yield model;
      }
    }
  }

  /** The group that serves a name as it is: aliases come before groups. */
  groupOf(name: string): BoundGroup | undefined {
    return Object.hasOwn(this.#calling.generation.config.aliases, name) ? undefined : this.#groups.of(name);
  }

  /** A name that a group takes, though it may be the id of a model that targets own. */
  owned(name: string, group: BoundGroup): ListedModel | undefined {
    if (group.matched === 'exact' || !group.isListed || this.#names === MOST_NAMES) return undefined;
    const model = this.#model(name, group);
    if (model) this.#names += 1;
    return model;
  }

  /** One name, listed or behind the most that are. */
  one(name: string): ListedModel | undefined {
    const group = this.groupOf(name);
    const isThere = group?.isListed === true && isOffered(name, group, this.#calling.generation);
    return isThere ? this.#model(name, group) : undefined;
  }

  #model(id: string, group: BoundGroup): ListedModel | undefined {
    const reached = reachedRoute(this.#calling, id, group);
    if (!reached) return undefined;
    const { route, model } = reached;
    const owner = route.virtualKey;
    const facts = this.#calling.catalog.entry(route.catalogProvider, model);
    const created = this.#calling.createdOf(owner, model);
    return { entry: modelEntry(id, { owner, created, facts, context: group.context }), facts, isOfGroup: true };
  }
}
