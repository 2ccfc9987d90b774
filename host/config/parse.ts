import { errorMessage } from '../common/error-message.ts';
import {
  type Document,
  isCollection,
  isPair,
  isScalar,
  LineCounter,
  parseAllDocuments,
  type YAMLError,
  visit,
} from 'yaml';
import { composeYaml, MAX_DEPTH, MAX_VALUES, resolveAliases } from './compose.ts';
import { repeatedMembers } from './json-members.ts';
import { isMergeKey, positions, type Positions, rangeStart } from './positions.ts';
import type { Problem } from './problems.ts';

export type Format = 'yaml' | 'json';

/** A parsed document that still knows where things stood. */
export interface ParsedDocument extends Positions {
  readonly format: Format;
  readonly value: unknown;
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
    return unreadable(malformed(error instanceof RangeError ? TOO_DEEP : withoutQuote(error), undefined));
  }
}

function parseYaml(text: string): Parsed {
  const lines = new LineCounter();
  const { root, second, faults, hasMore } = composeYaml(text, lines);
  const syntaxFaults = faults.map((error) => malformed(error.message, lineOfError(error, lines)));
  if (hasMore)
    return {
      document: undefined,
      problems: [...syntaxFaults, malformed('there are more faults than these', undefined)],
    };
  if (root) keepKeys(root);
  const problems = [...badKeys(root, lines), ...(second ? [trailing(lines.linePos(second.range?.[0] ?? 0).line)] : [])];
  if (!root || syntaxFaults.length > 0)
    return { document: root ? undefined : EMPTY, problems: [...syntaxFaults, ...problems] };
  const aliases = resolveAliases(root); // before they are followed
  return bounded(
    { format: 'yaml', value: root.toJS({ maxAliasCount: -1 }) ?? {}, ...positions(root, lines, aliases) },
    () => problems,
  );
}

const TOO_DEEP = `it is nested deeper than ${MAX_DEPTH} levels`;
const UNPLACED: Positions = { lineOf: () => undefined, numberText: () => undefined };

/** What an empty YAML text means. */
const EMPTY: ParsedDocument = { format: 'yaml', value: {}, ...UNPLACED };

/** Longer JSON texts are not read once more to find the lines of their problems: that takes seconds. */
const MAX_PLACED = 256 * 1024;

/** JSON is read by the strict parser; the lenient one that knows positions reads it only once they are asked for. */
function parseJson(text: string): Parsed {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const offset = /at position (\d+)/.exec(withoutQuote(error))?.[1];
    const line = offset === undefined ? undefined : text.slice(0, Number(offset)).split('\n').length;
    return unreadable(/after JSON/.test(withoutQuote(error)) ? trailing(line) : malformed(withoutQuote(error), line));
  }
  let placed: Positions | undefined;
  const place = (): Positions => (placed ??= text.length > MAX_PLACED ? UNPLACED : jsonPositions(text));
  const document: ParsedDocument = {
    format: 'json',
    value,
    lineOf: (path) => place().lineOf(path),
    numberText: () => undefined,
  };
  return bounded(document, () => repeatedInJson(text));
}

function jsonPositions(text: string): Positions {
  const lines = new LineCounter();
  const found = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const root = 'empty' in found ? undefined : found[0];
  return root ? positions(root, lines) : UNPLACED;
}

function repeatedInJson(text: string): Problem[] {
  const repeated = repeatedMembers(text);
  if (repeated.length === 0) return [];
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines.addNewLine(at + 1);
  return repeated.map(({ name, way, offset }) =>
    repeatedKey(
      name,
      way.some((each) => SECRET_MAPS.has(each)),
      lines.linePos(offset).line,
    ),
  );
}

/** The problems are looked for in what is not too much to look through. */
function bounded(document: ParsedDocument, problems: () => readonly Problem[]): Parsed {
  const excess = excessOf(document.value);
  return excess === undefined ? { document, problems: problems() } : unreadable(malformed(excess, undefined));
}

function excessOf(document: unknown): string | undefined {
  let values = 0;
  const look = (value: unknown, levels: number): string | undefined => {
    if (typeof value !== 'object' || value === null) return undefined;
    if (levels === 0) return TOO_DEEP;
    const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
    values += members.length;
    if (values > MAX_VALUES) return `it holds more than ${MAX_VALUES} values`;
    for (const member of members) {
      const found = look(member, levels - 1);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return look(document, MAX_DEPTH);
}

/** Maps that are withheld wherever a configuration is shown: their keys may be secrets too. */
const SECRET_MAPS = new Set(['env', 'headers', 'config']);

/** Keys are texts: one that looks like a number, a boolean or null is what was written, `4.10` not `4.1`. */
function keepKeys(root: Document): void {
  visit(root, {
    Pair: (_key, { key }) => {
      if (
        isScalar(key) &&
        key.source !== undefined &&
        (key.value === null || typeof key.value === 'number' || typeof key.value === 'boolean')
      )
        key.value = key.source;
    },
  });
}

/** Keys that are not texts, and two keys of one map that read alike, `1` and `"1"` included. */
function badKeys(root: Document | undefined, lines: LineCounter): Problem[] {
  const problems: Problem[] = [];
  if (!root) return problems;
  visit(root, {
    Map: (_key, map, way) => {
      const seen = new Set<string>();
      const isSecret = way.some(
        (step) => isPair(step) && isScalar(step.key) && SECRET_MAPS.has(String(step.key.value)),
      );
      for (const { key } of map.items) {
        const name = isScalar(key) ? String(key.value) : '';
        const isRepeated = seen.has(name) && !isMergeKey(key);
        seen.add(name);
        if (!isRepeated && !isCollection(key)) continue;
        const line = lines.linePos(rangeStart(key) ?? 0).line;
        problems.push(
          isCollection(key)
            ? malformed('a key is a list or a map, and keys are texts', line)
            : repeatedKey(name, isSecret, line),
        );
      }
    },
  });
  return problems;
}

/** The problem of a key that comes again. A name in a map that is withheld is not quoted. */
function repeatedKey(name: string, isSecret: boolean, line: number): Problem {
  return {
    path: '',
    rule: 'DC03',
    message: `${isSecret ? 'a key' : `the key "${name}"`} stands twice in one map`,
    fix: 'keep one of the two',
    line,
  };
}

/** A JSON parser's message without the piece of the document it quotes, which may be a secret, or part of one. */
export const withoutQuote = (error: unknown): string =>
  errorMessage(error).replace(/,? ?(\.\.\.)?"[\s\S]*"(\.\.\.)? is not valid JSON/, '');
const lineOfError = (error: YAMLError, lines: LineCounter): number => lines.linePos(error.pos[0]).line;
const unreadable = (problem: Problem): Parsed => ({ document: undefined, problems: [problem] });

function malformed(message: string, line: number | undefined): Problem {
  return {
    path: '',
    rule: 'DC03',
    message: `malformed document: ${message}`,
    fix: 'correct the syntax at this place',
    line,
  };
}

function trailing(line: number | undefined): Problem {
  return {
    path: '',
    rule: 'DC04',
    message: 'there is data after the configuration',
    fix: 'keep one document per file',
    line,
  };
}
