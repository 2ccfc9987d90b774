import { type Document, isAlias, isMap, isPair, isScalar, isSeq, LineCounter, type Node, type Pair, parseAllDocuments, type YAMLError, visit } from 'yaml';
import type { Problem } from './problems.ts';

export type Format = 'yaml' | 'json';
type Path = readonly (string | number)[];

/** Deepest nesting of a configuration. */
const MAX_DEPTH = 256;

/** A parsed document that still knows where things stood. */
export interface ParsedDocument {
  readonly format: Format;
  readonly value: unknown;
  /** 1-based line of the member at a path, or of the nearest parent that exists. */
  readonly lineOf: (path: Path) => number | undefined;
  /** The text a number was written in (`1.10`), for fields that want text. */
  readonly numberText: (path: Path) => string | undefined;
}

export interface Parsed {
  /** `undefined` when nothing could be read. */
  readonly document: ParsedDocument | undefined;
  readonly problems: readonly Problem[];
}

/** Parses one configuration text. Malformed text, duplicate keys (DC03) and a second document (DC04) are problems. */
export function parseDocument(source: string, format: Format): Parsed {
  const text = source.replace(/^\uFEFF/, '');
  try {
    return format === 'json' ? parseJson(text) : parseYaml(text);
  } catch (error) {
    const isTooDeep = error instanceof RangeError;
    return unreadable(malformed(isTooDeep ? `it is nested deeper than ${MAX_DEPTH} levels` : withoutQuote(error), undefined));
  }
}

function parseYaml(text: string): Parsed {
  const lines = new LineCounter();
  const found = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, merge: true, uniqueKeys: false });
  const [root, second]: readonly Document[] = 'empty' in found ? [] : found;
  const faults = [...(root?.errors ?? []), ...(root?.warnings ?? [])].map((error) => malformed(error.message, lineOfError(error, lines)));
  const problems = [...duplicateKeys(root, lines), ...(second ? [trailing(lines.linePos(second.range?.[0] ?? 0).line)] : [])];
  if (faults.length > 0) return { document: undefined, problems: [...faults, ...problems] };
  return withDepth({ format: 'yaml', value: root?.toJS({ maxAliasCount: 1000 }) ?? {}, ...positions(root, lines) }, problems);
}

/** JSON is read by the strict parser; the lenient one beside it knows positions and sees duplicate keys. */
function parseJson(text: string): Parsed {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const offset = /at position (\d+)/.exec(withoutQuote(error))?.[1];
    const line = offset === undefined ? undefined : text.slice(0, Number(offset)).split('\n').length;
    return unreadable(/after JSON/.test(withoutQuote(error)) ? trailing(line) : malformed(withoutQuote(error), line));
  }
  const lines = new LineCounter();
  const found = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const root = 'empty' in found ? undefined : found[0];
  return withDepth({ format: 'json', value, ...positions(root, lines) }, duplicateKeys(root, lines));
}

function withDepth(document: ParsedDocument, problems: readonly Problem[]): Parsed {
  if (!isDeeper(document.value, MAX_DEPTH)) return { document, problems };
  return unreadable(malformed(`it is nested deeper than ${MAX_DEPTH} levels`, undefined));
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}

/** Two keys of one map that read alike, `1` and `"1"` included. */
function duplicateKeys(root: Document | undefined, lines: LineCounter): Problem[] {
  const problems: Problem[] = [];
  if (!root) return problems;
  visit(root, {
    Map: (_key, map) => {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        const name = isScalar(key) ? String(key.value) : '';
        if (seen.has(name) && name !== '<<') {
          const line = lines.linePos(rangeStart(key) ?? 0).line;
          problems.push({ path: '', rule: 'DC03', message: `the key "${name}" stands twice in one map`, fix: 'keep one of the two', line });
        }
        seen.add(name);
      }
    },
  });
  return problems;
}

/** A JSON parser's words without the piece of the document it quotes, which may be a secret, or half of one. */
export const withoutQuote = (error: unknown): string => (error instanceof Error ? error.message : String(error)).replace(/,? ?(\.\.\.)?"[\s\S]*"(\.\.\.)? is not valid JSON/, '');
const lineOfError = (error: YAMLError, lines: LineCounter): number => lines.linePos(error.pos[0]).line;
const unreadable = (problem: Problem): Parsed => ({ document: undefined, problems: [problem] });

function malformed(message: string, line: number | undefined): Problem {
  return { path: '', rule: 'DC03', message: `malformed document: ${message}`, fix: 'correct the syntax at this place', line };
}

function trailing(line: number | undefined): Problem {
  return { path: '', rule: 'DC04', message: 'there is data after the configuration', fix: 'keep one document per file', line };
}

function positions(root: Document | undefined, lines: LineCounter): Pick<ParsedDocument, 'lineOf' | 'numberText'> {
  return {
    lineOf: (path) => {
      const offset = root && offsetOf(root, root.contents, path);
      return offset === undefined ? undefined : lines.linePos(offset).line;
    },
    numberText: (path) => {
      const node = root && path.reduce<unknown>((at, part) => memberOf(root, at, part), root.contents);
      const scalar = root && resolved(root, node);
      return isScalar(scalar) && typeof scalar.value === 'number' ? scalar.source : undefined;
    },
  };
}

/** Character offset of the key (or item) a path ends at, or of the last parent found on the way. */
function offsetOf(root: Document, node: unknown, path: Path): number | undefined {
  const start = rangeStart(node);
  const [head, ...rest] = path;
  if (head === undefined) return start;
  const member = entryOf(root, node, head);
  if (member === undefined) return start;
  if (!isPair(member)) return offsetOf(root, member, rest) ?? start;
  return (rest.length === 0 ? undefined : offsetOf(root, member.value, rest)) ?? rangeStart(member.key) ?? start;
}

function memberOf(root: Document, node: unknown, part: string | number): unknown {
  const entry = entryOf(root, node, part);
  return isPair(entry) ? entry.value : entry;
}

/** The pair or item at one step; behind aliases and merged maps too. */
function entryOf(root: Document, node: unknown, part: string | number): unknown {
  const at = resolved(root, node);
  if (isSeq(at)) return typeof part === 'number' ? at.items[part] : undefined;
  if (!isMap(at)) return undefined;
  const own = at.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
  if (own) return own;
  const merged = at.items.filter(({ key }) => isScalar(key) && key.value === '<<').flatMap((pair: Pair) => {
    const value = resolved(root, pair.value);
    return isSeq(value) ? value.items : [value];
  });
  return merged.map((map) => entryOf(root, map, part)).find((entry) => entry !== undefined);
}

function resolved(root: Document, node: unknown): unknown {
  return isAlias(node) ? node.resolve(root) : node;
}

function rangeStart(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}
