import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isCollection,
  isNode,
  isPair,
  Lexer,
  type LineCounter,
  type Node,
  Parser,
  type YAMLError,
} from 'yaml';

/** Deepest nesting of a configuration. */
export const MAX_DEPTH = 256;
/** Faults of syntax that are reported. A file with more of them is probably not YAML at all. */
const MAX_FAULTS = 100;
/** Open at the parser beside lists and maps: the document and a text. */
const OPEN_BESIDE = 2;
/** Anchors and aliases together: finding what one stands for takes a look at all of them. */
const MAX_NAMES = 5000;
/** Members and items of a configuration, and what its aliases stand for, counted wherever they are used. Telling what is wrong takes some ten microseconds for each. */
export const MAX_VALUES = 100_000;

/** Without `logLevel` the library prints warnings of its own on stderr; its `resolveKnownTags` makes dates, bytes and sets, which no JSON holds. */
const OPTIONS = {
  prettyErrors: false,
  merge: true,
  uniqueKeys: false,
  logLevel: 'error',
  resolveKnownTags: false,
} as const;

export interface Composed {
  readonly root: Document | undefined;
  /** A document behind the first. */
  readonly second: Document | undefined;
  readonly faults: readonly YAMLError[];
  /** There are more faults than are reported. */
  readonly hasMore: boolean;
}

/**
 * Reads the first document of a text, and whether another follows it. Further documents, and faults beyond the first
 * hundred, are not looked for.
 */
export function composeYaml(text: string, lines: LineCounter): Composed {
  const composer = new Composer({ ...OPTIONS, lineCounter: lines });
  countFaults(composer);
  try {
    const [root, second] = firstTwo(composer, text, lines);
    return { root, second, faults: [...(root?.errors ?? []), ...(root?.warnings ?? [])], hasMore: false };
  } catch (error) {
    if (!(error instanceof TooManyFaults)) throw error;
    return {
      root: undefined,
      second: undefined,
      faults: composer.streamInfo().errors.slice(0, MAX_FAULTS),
      hasMore: true,
    };
  }
}

class TooManyFaults extends Error {}

type OnError = (...fault: readonly unknown[]) => void;

/** The library collects faults without end, and offers no other place to stop it. Where it has none, nothing is bounded. */
function countFaults(composer: Composer): void {
  const reporting = composer as unknown as { onError?: OnError };
  const report = reporting.onError;
  if (!report) return;
  let count = 0;
  reporting.onError = (...fault) => {
    report(...fault);
    count += 1;
    if (count >= MAX_FAULTS) throw new TooManyFaults();
  };
}

function firstTwo(composer: Composer, text: string, lines: LineCounter): Document[] {
  const found: Document[] = [];
  let faults = 0;
  for (const token of tokensOf(text, lines)) {
    if (token.type === 'error') faults += 1;
    if (faults > MAX_FAULTS) throw new TooManyFaults();
    for (const document of composer.next(token)) found.push(document);
    if (found.length > 1) return found;
  }
  return [...found, ...composer.end()];
}

/** What the library's own `parse` yields. Throws for what is nested so deep that composing it would need more stack than there is. */
function* tokensOf(text: string, lines: LineCounter): Generator<CST.Token> {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (parser.stack.length > MAX_DEPTH + OPEN_BESIDE) throw new RangeError('it is nested too deep');
  }
  yield* parser.end();
}

/** What each alias stands for. Throws when that is more than a configuration can need: a few lines can stand for millions of values. */
export function resolveAliases(root: Document): ReadonlyMap<Node, Node> {
  const aliases = new AliasReader();
  aliases.sizeOf(root.contents);
  return aliases.targets;
}

interface Anchored {
  readonly node: Node;
  /** Values in it, aliases followed; endless for what is not read to its end. */
  size: number;
}

class AliasReader {
  readonly targets = new Map<Node, Node>();
  readonly #anchors = new Map<string, Anchored>();
  #names = 0;
  #repeated = 0;

  sizeOf(node: unknown): number {
    if (isPair(node)) return this.sizeOf(node.key) + this.sizeOf(node.value);
    if (!isNode(node)) return 0;
    if (isAlias(node)) return this.#follow(node, node.source);
    const anchored = node.anchor === undefined ? undefined : this.#anchor(node.anchor, node);
    let size = 1;
    if (isCollection(node)) for (const item of node.items) size += this.sizeOf(item);
    if (anchored) anchored.size = size;
    return size;
  }

  #anchor(name: string, node: Node): Anchored {
    this.#countName();
    const anchored = { node, size: Number.POSITIVE_INFINITY };
    this.#anchors.set(name, anchored);
    return anchored;
  }

  /** The last anchor of this name before the alias. Where there is none, the library reports it. */
  #follow(alias: Node, name: string): number {
    this.#countName();
    const anchored = this.#anchors.get(name);
    if (!anchored) return 1;
    this.targets.set(alias, anchored.node);
    this.#repeated += anchored.size;
    if (this.#repeated > MAX_VALUES) throw new Error(`its aliases stand for more than ${MAX_VALUES} values`);
    return anchored.size;
  }

  #countName(): void {
    this.#names += 1;
    if (this.#names > MAX_NAMES) throw new Error(`it has more than ${MAX_NAMES} anchors and aliases`);
  }
}
