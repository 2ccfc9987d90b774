import type { Path } from './problems.ts';
import {
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type LineCounter,
  type Node,
  type Pair,
  type YAMLMap,
} from 'yaml';

/** Where the members of a document stand in its text, and what was written there. */
export interface Positions {
  /** 1-based line of the member at a path, or of the nearest parent that exists. */
  readonly lineOf: (path: Path) => number | undefined;
  /** The text a number was written in (`1.10`). */
  readonly numberText: (path: Path) => string | undefined;
}

/** `aliases` says what each stands for: asking the document takes a look at all of it each time. */
export function positions(root: Document, lines: LineCounter, aliases: ReadonlyMap<Node, Node> = new Map()): Positions {
  const nodes = new NodeFinder(root, aliases);
  return {
    lineOf: (path) => {
      const offset = nodes.offsetOf(path);
      return offset === undefined ? undefined : lines.linePos(offset).line;
    },
    numberText: (path) => {
      const scalar = nodes.valueAt(path);
      return isScalar(scalar) && typeof scalar.value === 'number' ? scalar.source : undefined;
    },
  };
}

/** The library reads `<<` as a symbol of that name. */
export function isMergeKey(key: unknown): boolean {
  if (!isScalar(key)) return false;
  return key.value === '<<' || (typeof key.value === 'symbol' && key.value.description === '<<');
}

export function rangeStart(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}

/** Finds nodes by their path. The keys of a map are read once, so that many look-ups in a large one stay in proportion. */
class NodeFinder {
  readonly #root: Document;
  readonly #aliases: ReadonlyMap<Node, Node>;
  readonly #entries = new Map<YAMLMap, ReadonlyMap<string, Pair>>();

  constructor(root: Document, aliases: ReadonlyMap<Node, Node>) {
    this.#root = root;
    this.#aliases = aliases;
  }

  valueAt(path: Path): unknown {
    let node: unknown = this.#root.contents;
    for (const part of path) {
      const entry = this.#entryOf(node, part);
      node = isPair(entry) ? entry.value : entry;
    }
    return this.#resolved(node);
  }

  /** Character offset of the key (or item) a path ends at, or of the last parent found on the way. */
  offsetOf(path: Path): number | undefined {
    let node: unknown = this.#root.contents;
    let offset = rangeStart(node);
    for (const part of path) {
      const entry = this.#entryOf(node, part);
      if (entry === undefined) return offset;
      offset = rangeStart(isPair(entry) ? entry.key : entry) ?? offset;
      node = isPair(entry) ? entry.value : entry;
    }
    return offset;
  }

  /** The pair or item at one step; behind aliases and merged maps too. */
  #entryOf(node: unknown, part: string | number): unknown {
    const at = this.#resolved(node);
    if (isSeq(at)) return typeof part === 'number' ? at.items[part] : undefined;
    return isMap(at) ? this.#entriesOf(at).get(String(part)) : undefined;
  }

  #entriesOf(map: YAMLMap): ReadonlyMap<string, Pair> {
    const known = this.#entries.get(map);
    if (known) return known;
    const entries = new Map<string, Pair>();
    this.#entries.set(map, entries); // before it is whole: a map may be merged into itself
    for (const pair of map.items)
      if (isScalar(pair.key) && !entries.has(String(pair.key.value))) entries.set(String(pair.key.value), pair);
    for (const merged of this.#mergedInto(map))
      for (const [name, pair] of this.#entriesOf(merged)) if (!entries.has(name)) entries.set(name, pair);
    return entries;
  }

  #mergedInto(map: YAMLMap): YAMLMap[] {
    return map.items
      .filter(({ key }) => isMergeKey(key))
      .flatMap(({ value }) => {
        const merged = this.#resolved(value);
        return (isSeq(merged) ? merged.items : [merged])
          .map((each) => this.#resolved(each))
          .filter((each) => isMap(each));
      });
  }

  #resolved(node: unknown): unknown {
    return isAlias(node) ? this.#aliases.get(node) : node;
  }
}
