import { globSync, readFileSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync, visitorKeys } from 'oxc-parser';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A node of the syntax tree, as loosely typed as the rules need it. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly [member: string]: any;
}

/** Says what is wrong with one file: nothing, or `path:line: what`. */
export type Checker = (path: string, source: string) => string[];

/** Paths of the files under these folders, from the root of the repository, sorted. */
export function filesIn(...folders: readonly string[]): string[] {
  const found = folders.flatMap((folder) => globSync(`${folder}/**/*.{ts,tsx,mts,js,mjs}`, { cwd: ROOT }));
  return found
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !/\.d\.[cm]?ts$|(^|\/)(node_modules|dist)\//.test(path))
    .toSorted();
}

export function read(path: string): string {
  return readFileSync(`${ROOT}${path}`, 'utf8');
}

/** Everything a checker says of the files. */
export function problemsIn(files: readonly string[], checker: Checker): string[] {
  return files.flatMap((path) => checker(path, read(path)));
}

export function parse(path: string, source: string): Node {
  return parseAll(path, source).program;
}

interface Parsed {
  readonly program: Node;
  readonly comments: readonly Span[];
}

/** A rule asks for the same file several times in turn. */
let last: { readonly path: string; readonly source: string; readonly parsed: Parsed } | undefined;

function parseAll(path: string, source: string): Parsed {
  if (last?.path === path && last.source === source) return last.parsed;
  const { program, comments, errors } = parseSync(path, source, { preserveParens: false });
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]?.message}`);
  const parsed = { program, comments };
  last = { path, source, parsed };
  return parsed;
}

/** Places in a source, as offsets. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Where a file of code holds comments. */
export function commentsOf(path: string, source: string): readonly Span[] {
  return parseAll(path, source).comments;
}

/** Where a file of code holds sentences: its comments and its texts, without the names of the files it imports. */
export function proseOf(path: string, source: string): Span[] {
  const { program, comments } = parseAll(path, source);
  const texts: Span[] = [];
  const look = (node: Node): void => {
    if (node.type === 'TemplateElement' || (node.type === 'Literal' && typeof node['value'] === 'string'))
      texts.push({ start: node.start, end: node['end'] as number });
    const imported = sourcesOf(node);
    for (const child of childrenOf(node)) if (!imported.includes(child)) look(child);
  };
  look(program);
  return [...comments, ...texts];
}

/** Children of a node in source order. */
export function childrenOf(node: Node): Node[] {
  return (visitorKeys[node.type] ?? [])
    .flatMap((key) => node[key] as Node | readonly (Node | null)[] | null | undefined)
    .filter((child) => child !== null && child !== undefined);
}

/** Visits a node and all below it. */
export function walk(node: Node, visit: (node: Node) => void): void {
  visit(node);
  for (const child of childrenOf(node)) walk(child, visit);
}

/** Every node of these types. */
export function nodesOf(path: string, source: string, ...types: readonly string[]): Node[] {
  const found: Node[] = [];
  walk(parse(path, source), (node) => {
    if (types.includes(node.type)) found.push(node);
  });
  return found;
}

export function lineOf(source: string, { start }: Node): number {
  return source.slice(0, start).split('\n').length;
}

export interface Import {
  /** As it is written; `undefined` when it is computed. */
  readonly specifier: string | undefined;
  /** The file a relative specifier points at, from the root of the repository. */
  readonly file: string | undefined;
  /** Names that are taken from it, as the other module calls them, types left out. */
  readonly names: readonly string[];
  readonly line: number;
}

/** Every way a file names another: static, type-only, re-exported, dynamic, `import('…')` types and `require`. */
export function importsOf(path: string, source: string): Import[] {
  const found: Import[] = [];
  walk(parse(path, source), (node) => {
    for (const from of sourcesOf(node)) {
      const specifier = from.type === 'Literal' ? String(from['value']) : undefined;
      const file = specifier?.startsWith('.') ? posix.normalize(posix.join(dirname(path), specifier)) : undefined;
      found.push({ specifier, file, names: namesOf(node), line: lineOf(source, node) });
    }
  });
  return found;
}

function sourcesOf(node: Node): Node[] {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
    case 'ImportExpression':
    case 'TSImportType':
      return branches(node['source'] as Node);
    case 'ExportNamedDeclaration':
      return node['source'] ? [node['source'] as Node] : [];
    case 'TSExternalModuleReference':
      return [node['expression'] as Node];
    case 'CallExpression':
      return node['callee'].name === 'require' ? branches(node['arguments'][0] as Node) : [];
    default:
      return [];
  }
}

/** Both sides of `condition ? a : b`. */
function branches(node: Node): Node[] {
  return node.type === 'ConditionalExpression'
    ? [...branches(node['consequent'] as Node), ...branches(node['alternate'] as Node)]
    : [node];
}

function namesOf(node: Node): string[] {
  if (node.type !== 'ImportDeclaration' || node['importKind'] === 'type') return [];
  const specifiers = node['specifiers'] as readonly Node[];
  return specifiers
    .filter((each) => each.type === 'ImportSpecifier' && each['importKind'] !== 'type')
    .map((each) => String(each['imported'].name ?? each['imported'].value));
}
