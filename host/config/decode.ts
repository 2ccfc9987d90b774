import { type Fields, isFields } from '../contract/index.ts';
import type { Description, ValidationErrorItem } from 'joi';
import { nearest } from '../common/nearest.ts';
import type { GatewayConfig } from './document.ts';
import { type ParsedDocument, parseDocument, type Format } from './parse.ts';
import { parsePath, type Path, pathText, type Problem } from './problems.ts';
import { configDescription } from './schema/config-description.ts';
import { configSchema } from './schema/config-schema.ts';
import type { SchemaContext } from './schema/schema-fields.ts';
import { describedAt, keysOf } from './schema/schema-walk.ts';
import { showingOf } from './schema/showing.ts';
import { markedFields } from './markers.ts';

export interface Decoded {
  /** Shape-checked, defaults filled in; what did not decode is left out. `undefined` when nothing could be read. */
  readonly config: GatewayConfig | undefined;
  /** The document as it was written: no default filled in, nothing left out. What is shown, stored and gone back to. */
  readonly document: Fields;
  readonly problems: readonly Problem[];
  /** Line of a path in the text it was read from. */
  readonly lineOf: (path: readonly (string | number)[]) => number | undefined;
}

/** What could not be read. */
export function undecoded(problems: readonly Problem[]): Decoded {
  return { config: undefined, document: {}, problems, lineOf: () => undefined };
}

/** Reads a configuration text strictly: every unknown key (DC01), wrong type (DC02) and syntax fault is named. */
export function decodeText(text: string, format: Format): Decoded {
  const { document, problems } = parseDocument(text, format);
  if (!document) return undecoded(problems);
  const decoded = decodeDocument(document);
  return { ...decoded, problems: [...problems, ...decoded.problems] };
}

/** Reads what was stored, perhaps by another version: keys that this one does not know are left out, and so is the block of the file alone. */
export function decodeStored(text: string): Decoded {
  const decoded = withoutIdentity(decodeText(text, 'json'));
  return { ...decoded, problems: decoded.problems.filter(({ rule }) => rule !== 'DC01') };
}

/** Whether a document has the block of the file alone, whatever it holds. */
export const holdsIdentity = ({ document }: Pick<Decoded, 'document'>): boolean => Object.hasOwn(document, IDENTITY);

/** Whether a problem is one of that block. */
export const isOfIdentity = ({ path }: Pick<Problem, 'path'>): boolean => parsePath(path)[0] === IDENTITY;

/** A configuration as the admin API knows it: without the block that belongs to the file alone. See docs/identity.md. */
export function withoutIdentity<D extends Decoded>(decoded: D): D {
  if (!holdsIdentity(decoded)) return decoded;
  const { [IDENTITY]: _written, ...document } = decoded.document;
  const { identity: _identity, ...config } = decoded.config ?? { identity: undefined };
  const problems = decoded.problems.filter((problem) => !isOfIdentity(problem));
  return { ...decoded, document, problems, ...(decoded.config && { config }) };
}

const IDENTITY = 'identity';

/** Whether what was stored has keys that this version does not know: a newer one wrote it, and a write by this one would lose them. */
export function isOfNewer(stored: string): boolean {
  return decodeText(stored, 'json').problems.some(({ rule }) => rule === 'DC01');
}

/** Decodes a text that has been parsed, without what parsing found. */
export function decodeDocument(document: ParsedDocument): Decoded {
  const { lineOf } = document;
  const value = document.value ?? {}; // `null` is as good as nothing
  if (!isFields(value)) {
    const problem = {
      path: '',
      rule: 'DC02',
      message: `type mismatch: expected an object, found ${kindOf(value)}`,
      fix: 'write keys and values',
    };
    return { ...undecoded([problem]), lineOf };
  }
  const context: SchemaContext = document.format === 'yaml' ? { numberText: document.numberText } : {};
  const options = { abortEarly: false, convert: false, context } as const;
  const unseen = [...prototypeKeys(value, []), ...markedFields(value).map(redacted)];
  const safe = withoutPrototypes(value, unseen);
  const first = configSchema.validate(safe, options);
  const details = first.error?.details ?? [];
  const placed = [...unseen, ...decodeProblems(details)];
  const problems = placed.map(({ at, ...problem }) => ({ ...problem, line: lineOf(at) }));
  const usable =
    details.length === 0 ? first.value : configSchema.validate(without(safe, pathsOf(details)), options).value;
  // In YAML what was written and what was meant differ: `1.10` and `yes` become a text and a flag.
  const written =
    document.format === 'yaml'
      ? (configSchema.validate(safe, { ...options, noDefaults: true }).value as Fields)
      : value;
  return { config: normalize(usable as GatewayConfig), document: written, problems, lineOf };
}

/** Fills in what may be left out, so that two configurations that mean the same compare equal. */
function normalize(config: GatewayConfig): GatewayConfig {
  return {
    ...config,
    apiVersion: config.apiVersion || 'v1',
    strategy: { ...config.strategy, mode: config.strategy.mode || 'single' },
  };
}

type PlacedProblem = Problem & { readonly at: readonly (string | number)[] };

/** A key `__proto__` would set a prototype, and is refused (DC01): the schema does not see it. */
function prototypeKeys(value: unknown, at: Path): PlacedProblem[] {
  if (typeof value !== 'object' || value === null) return [];
  const members: readonly (readonly [string | number, unknown])[] = Array.isArray(value)
    ? value.map((item: unknown, index) => [index, item])
    : Object.entries(value);
  return members.flatMap(([key, member]) =>
    key === '__proto__' ? [prototypeKey([...at, key])] : prototypeKeys(member, [...at, key]),
  );
}

function prototypeKey(at: readonly (string | number)[]): PlacedProblem {
  return { at, path: pathText(at), rule: 'DC01', message: 'unknown key "__proto__"', fix: 'remove it' };
}

/** A document that was shown scrubbed and is sent back would lose its secrets (DC06). */
function redacted(at: Path): PlacedProblem {
  return {
    at,
    path: pathText(at),
    rule: 'DC06',
    message: 'it holds a redaction marker instead of a value',
    fix: 'write the value, or a ${VAR} reference',
  };
}

/** A document without a fault needs no description of the schema. */
function decodeProblems(details: readonly ValidationErrorItem[]): PlacedProblem[] {
  if (details.length === 0) return [];
  const description = configDescription();
  return details.map((detail) => decodeProblem(detail, description));
}

function decodeProblem(detail: ValidationErrorItem, description: Description): PlacedProblem {
  const at = detail.path;
  const secret = withheldAt(detail.path, description);
  const path = pathText(secret ?? detail.path);
  if (detail.type !== 'object.unknown') {
    const found = kindOf(detail.context?.value, secret !== undefined);
    return {
      at,
      path,
      rule: 'DC02',
      message: `type mismatch: expected ${expected(detail)}, found ${found}`,
      fix: `write ${expected(detail)}`,
    };
  }
  const key = String(detail.path.at(-1));
  const known = keysOf(describedAt(description, detail.path.slice(0, -1)));
  const near = nearest(key, known);
  const fix = near === undefined ? `remove it, or use one of: ${known.join(', ')}` : `did you mean "${near}"?`;
  return { at, path, rule: 'DC01', message: `unknown key "${key}"`, fix };
}

/** The map on the way to a place whose keys and values are secret. */
function withheldAt(path: Path, description: Description): Path | undefined {
  const length = path.findIndex(
    (_part, index) => showingOf(describedAt(description, path.slice(0, index + 1))).as === 'withheld',
  );
  return length < 0 ? undefined : path.slice(0, length + 1);
}

const EXPECTED: Readonly<Record<string, string>> = {
  'string.base': 'text',
  'boolean.base': 'true or false',
  'object.base': 'an object',
  'array.base': 'a list',
  'number.base': 'a number',
  'number.integer': 'an integer',
  'number.unsafe': 'an integer up to 2^53',
  'number.infinity': 'a finite number',
  'array.sparse': 'a value',
};

function expected(detail: ValidationErrorItem): string {
  return EXPECTED[detail.type] ?? 'another type';
}

function kindOf(value: unknown, isSecret = false): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  const kinds: Readonly<Record<string, string>> = { string: 'text', boolean: 'true or false', object: 'an object' };
  if (typeof value === 'number') return isSecret ? 'a number' : `the number ${value}`;
  return kinds[typeof value] ?? typeof value;
}

const pathsOf = (details: readonly ValidationErrorItem[]): readonly Path[] => details.map(({ path }) => path);

/** The schema copies objects by assignment, where a key `__proto__` becomes the copy's prototype: they are taken out before. */
function withoutPrototypes(value: unknown, found: readonly PlacedProblem[]): unknown {
  const paths = found.map(({ at }) => at).filter((at) => at.at(-1) === '__proto__');
  return paths.length === 0 ? value : without(value, paths);
}

/** A copy without what stands at these paths. In lists something harmless takes its place, so that others keep theirs. */
function without(value: unknown, paths: readonly Path[]): unknown {
  const description = configDescription();
  const copy = structuredClone(value);
  for (const path of paths) {
    let parent = copy as Record<string | number, unknown> | undefined;
    for (const part of path.slice(0, -1)) parent = parent?.[part] as typeof parent;
    const last = path.at(-1);
    if (typeof parent !== 'object' || parent === null || last === undefined) continue;
    if (Array.isArray(parent)) parent[Number(last)] = harmless(describedAt(description, path)?.type);
    else delete parent[last];
  }
  return copy;
}

function harmless(type: string | undefined): unknown {
  if (type === 'object') return {};
  return type === 'number' ? 0 : '';
}
