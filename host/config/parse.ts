import { type Document, isMap, isScalar, isSeq, LineCounter, type Node, parseAllDocuments, type YAMLError } from 'yaml';
import type { Problem } from './problems.ts';

export type Format = 'yaml' | 'json';

/** A parsed document that still knows where things stood. */
export interface ParsedDocument {
  readonly format: Format;
  readonly value: unknown;
  /** 1-based line of the member at a path, or of the nearest parent that exists. */
  readonly lineOf: (path: readonly (string | number)[]) => number | undefined;
  /** The text a number was written in (`1.10`), for fields that want text. */
  readonly numberText: (path: readonly (string | number)[]) => string | undefined;
}

export type Parsed = { readonly document: ParsedDocument } | { readonly problems: readonly Problem[] };

/** Parses one configuration text. Malformed text, duplicate keys (DC03) and a second document (DC04) are problems. */
export function parseDocument(text: string, format: Format): Parsed {
  const lines = new LineCounter();
  const found = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, merge: format === 'yaml' });
  const documents: readonly Document[] = 'empty' in found ? [] : found;
  const problems = format === 'json' ? jsonProblems(text, documents[0], lines) : yamlProblems(text, documents, lines);
  if (problems.length > 0) return { problems };
  const root = documents[0];
  try {
    const value: unknown = format === 'json' ? JSON.parse(text) : (root?.toJS({ maxAliasCount: 1000 }) ?? {});
    return { document: { format, value, ...positions(root, lines) } };
  } catch (error) {
    return { problems: [malformed(error instanceof Error ? error.message : String(error), undefined)] };
  }
}

function yamlProblems(text: string, documents: readonly Document[], lines: LineCounter): Problem[] {
  const [first, second] = documents;
  const problems = [...(first?.errors ?? []), ...(first?.warnings ?? [])].map((error) => yamlProblem(text, error, lines));
  if (second) problems.push(trailing(lines.linePos(second.range?.[0] ?? 0).line));
  return problems;
}

/** JSON is read by the strict parser; the lenient one beside it finds duplicate keys, which the strict one accepts. */
function jsonProblems(text: string, lenient: Document | undefined, lines: LineCounter): Problem[] {
  try {
    JSON.parse(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const offset = /at position (\d+)/.exec(message)?.[1];
    const line = offset === undefined ? undefined : text.slice(0, Number(offset)).split('\n').length;
    return [/after JSON/.test(message) ? trailing(line) : malformed(message, line)];
  }
  return (lenient?.errors ?? []).filter((error) => error.code === 'DUPLICATE_KEY').map((error) => yamlProblem(text, error, lines));
}

function yamlProblem(text: string, error: YAMLError, lines: LineCounter): Problem {
  const line = lines.linePos(error.pos[0]).line;
  if (error.code === 'DUPLICATE_KEY') {
    const key = /^"[^"]*"|^[^\s:,{}[\]]+/.exec(text.slice(error.pos[0]))?.[0] ?? '';
    return { path: '', rule: 'DC03', message: `the key ${key} stands twice in one map`, fix: 'keep one of the two', line };
  }
  return malformed(error.message, line);
}

function malformed(message: string, line: number | undefined): Problem {
  return { path: '', rule: 'DC03', message: `malformed document: ${message}`, fix: 'correct the syntax at this place', line };
}

function trailing(line: number | undefined): Problem {
  return { path: '', rule: 'DC04', message: 'there is data after the configuration', fix: 'keep one document per file', line };
}

function positions(root: Document | undefined, lines: LineCounter): Pick<ParsedDocument, 'lineOf' | 'numberText'> {
  return {
    lineOf: (path) => {
      const offset = offsetOf(root?.contents, path);
      return offset === undefined ? undefined : lines.linePos(offset).line;
    },
    numberText: (path) => {
      const node: unknown = root?.getIn(path, true);
      return isScalar(node) && typeof node.value === 'number' ? node.source : undefined;
    },
  };
}

/** Character offset of the key (or item) a path ends at, or of the last parent found on the way. */
function offsetOf(node: unknown, path: readonly (string | number)[]): number | undefined {
  const start = rangeStart(node);
  const [head, ...rest] = path;
  if (head === undefined) return start;
  if (isMap(node)) {
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(head));
    if (!pair) return start;
    return (rest.length === 0 ? rangeStart(pair.key) : offsetOf(pair.value, rest)) ?? rangeStart(pair.key);
  }
  if (isSeq(node) && typeof head === 'number') return offsetOf(node.items[head], rest) ?? start;
  return start;
}

function rangeStart(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}
