import type { GatewayConfig } from '../../config/document.ts';
import type { ModelGroup, ModelGroups, ResolvedName } from '../../pipeline/model-group.ts';

/** Finds groups by the names that clients ask for. Immutable; a look-up takes one probe of a map, and one for each length of a prefix. */
export class GroupIndex<G extends ModelGroup> implements ModelGroups {
  readonly list: readonly G[];
  readonly #aliases: ReadonlyMap<string, string>;
  readonly #exact = new Map<string, G>();
  /** By what stands before the star. */
  readonly #prefixes = new Map<string, G>();
  /** Lengths of prefixes, the longest first. */
  readonly #lengths: readonly number[];
  readonly #behind = new Map<ModelGroup, readonly ResolvedName<G>[]>();

  constructor(list: readonly G[], { aliases }: Pick<GatewayConfig, 'aliases'>) {
    this.list = list;
    this.#aliases = new Map(Object.entries(aliases));
    for (const group of list)
      if (group.matched === 'exact') this.#exact.set(group.name, group);
      else this.#prefixes.set(group.name.slice(0, -1), group);
    this.#lengths = [...new Set(this.#prefixes.keys().map(({ length }) => length))].sort((a, b) => b - a);
  }

  of(name: string): G | undefined {
    const exact = this.#exact.get(name);
    if (exact) return exact;
    for (const length of this.#lengths) {
      if (length >= name.length) continue; // the star stands for one character at least
      const group = this.#prefixes.get(name.slice(0, length));
      if (group) return group;
    }
    return undefined;
  }

  /** What a name stands for: an alias is one hop. */
  afterAlias(name: string): string {
    return this.#aliases.get(name) ?? name;
  }

  behind(name: string, group: ModelGroup): readonly ResolvedName<G>[] {
    if (group.fallbacks.length === 0) return NOTHING;
    if (group.matched === 'prefix') return this.#walk(name, group);
    const known = this.#behind.get(group);
    if (known) return known;
    const found = this.#walk(name, group);
    this.#behind.set(group, found);
    return found;
  }

  /** Without recursion: fallbacks of fallbacks may be as many as there are groups. */
  #walk(asked: string, from: ModelGroup): readonly ResolvedName<G>[] {
    const seen = new Set([asked]);
    const found: ResolvedName<G>[] = [];
    const waiting = from.fallbacks.toReversed();
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const name = this.afterAlias(next);
      if (seen.has(name)) continue;
      seen.add(name);
      const group = this.of(name);
      found.push({ name, group });
      for (const fallback of group?.fallbacks.toReversed() ?? []) waiting.push(fallback);
    }
    return found;
  }
}

const NOTHING: readonly ResolvedName<never>[] = Object.freeze([]);
