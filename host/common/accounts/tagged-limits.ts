import { GatewayError } from '../../contract/index.ts';
import type { KeyLimits } from '../host-principal.ts';
import { countingTags } from './account-path.ts';
import type { AccountTree } from './account-tree.ts';
import { binds } from './bindings.ts';
import { budgetCount, type Level, levelName } from './level.ts';

/** What binds a request that brings tags. */
export interface TaggedLimits {
  /** Those of its credential, with the tags and what they add. */
  readonly limits: KeyLimits;
  /** What no tag of its key had bound it to. */
  readonly added: readonly Level[];
  /** Why it may not use any model. */
  readonly refusal: GatewayError | undefined;
}

/** Texts of tags that are kept for one credential. Clients choose them: where there are more, all are forgotten. */
const MOST_KEPT = 1000;
/** Budgets that one request may ask. */
const MOST_BUDGETS = 64;
const NO_LIMITS: KeyLimits = Object.freeze({});

/** Who brings tags, and what binds them without. */
interface Bearer {
  readonly principal: object | undefined;
  readonly limits: KeyLimits | undefined;
}

/** What tags of requests bind them to. It is looked for once for each credential, tags and state of the accounts. */
export class TagBindings {
  #tree: AccountTree | undefined;
  readonly #anonymous = {};
  /** By the limits of a credential, or by itself where it has none: what is kept for one is never another's. */
  #known = new WeakMap<object, Map<string, TaggedLimits>>();

  /** `names` in ascending order, each once. */
  of({ principal, limits }: Bearer, tree: AccountTree, names: readonly string[]): TaggedLimits {
    const bearer = limits ?? principal ?? this.#anonymous;
    if (tree !== this.#tree) this.#known = new WeakMap();
    this.#tree = tree;
    const text = names.join(',');
    const known = this.#known.get(bearer);
    const found = known?.get(text);
    if (found) return found;
    const made = taggedLimits(limits ?? NO_LIMITS, tree, names);
    if (known && known.size < MOST_KEPT) known.set(text, made);
    else this.#known.set(bearer, new Map([[text, made]]));
    return made;
  }
}

function taggedLimits(limits: KeyLimits, tree: AccountTree, names: readonly string[]): TaggedLimits {
  const own = new Set(countingTags(limits.tags ?? []));
  const brought = new Set(names);
  const all = [...new Set([...own, ...names])].toSorted();
  const tags = all.flatMap((name) =>
    tree
      .tags([name])
      .filter(
        ({ broughtBy }) => (own.has(name) && broughtBy !== 'request') || (brought.has(name) && broughtBy !== 'key'),
      )
      .filter(binds),
  );
  const before = limits.levels ?? [];
  const bound = new Set(before.map(({ budgetId }) => budgetId));
  const added = tags.filter(({ budgetId }) => !bound.has(budgetId));
  const levels = [...before.filter(({ kind }) => kind !== 'tag'), ...tags];
  return {
    limits: Object.freeze({ ...limits, tags: all, ...(levels.length > 0 && { levels }) }),
    added,
    refusal:
      refusalOf(
        names.filter((name) => !own.has(name)),
        tree,
        added,
      ) ?? tooMany(limits, levels),
  };
}

/** Nothing is spent from budgets of a tag that only keys bring because its name was sent. */
function refusalOf(foreign: readonly string[], tree: AccountTree, added: readonly Level[]): GatewayError | undefined {
  const taken = foreign.find((name) => tree.tags([name]).some(({ broughtBy }) => broughtBy === 'key'));
  if (taken !== undefined) return new GatewayError('invalid_request', `the tag #${taken} can only come from a key`);
  const shut = added.find(({ blocked }) => blocked);
  return shut && new GatewayError('access_blocked', `${levelName(shut)} is blocked`);
}

function tooMany({ budgets = [] }: KeyLimits, levels: readonly Level[]): GatewayError | undefined {
  const count = levels.reduce((sum, level) => sum + budgetCount(level), budgets.length);
  return count > MOST_BUDGETS
    ? new GatewayError(
        'invalid_request',
        `this request has ${count} budgets with its tags, the limit is ${MOST_BUDGETS}`,
      )
    : undefined;
}
