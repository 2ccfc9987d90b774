import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Node, parse, walk } from '../../architecture/source.ts';

/** A declaration under the name that others know it by. */
interface Found {
  readonly file: string;
  readonly node: Node;
}

/** What one file of declarations says: what it declares, and what it takes from others, by its local name. */
interface DeclarationFile {
  readonly path: string;
  readonly source: string;
  readonly declared: ReadonlyMap<string, readonly Node[]>;
  /** Exported name to local name, or to a name of another file. */
  readonly exported: ReadonlyMap<string, Reference>;
  readonly imported: ReadonlyMap<string, Reference>;
  /** Files whose exports are its own, too. */
  readonly stars: readonly string[];
}

interface Reference {
  /** `undefined`: of this file itself. */
  readonly from: string | undefined;
  readonly name: string;
}

const NAMED: ReadonlySet<string> = new Set([
  'TSInterfaceDeclaration',
  'TSTypeAliasDeclaration',
  'TSDeclareFunction',
  'FunctionDeclaration',
  'ClassDeclaration',
]);

/**
 * The public face of one entry point, read from the declarations that the compiler wrote: every exported name with its signature, in the order of
 * names, without comments; then what those signatures need and nothing exports.
 */
export function apiReport(entry: string): string {
  const files = new Map<string, DeclarationFile>();
  const file = (path: string): DeclarationFile => {
    const known = files.get(path) ?? readDeclarations(path);
    files.set(path, known);
    return known;
  };
  const names = [...exportsOf(entry, file)].toSorted();
  const shown = new Map<string, Found[]>();
  for (const name of names) shown.set(name, find(entry, name, file));
  const needed = reached([...shown.values()].flat(), file);
  return [
    ...names.map((name) => `export ${name}\n${textOf(shown.get(name) ?? [], file)}`),
    ...needed.map(([name, found]) => `needed ${name}\n${textOf(found, file)}`),
    '',
  ].join('\n\n');
}

type ReadFile = (path: string) => DeclarationFile;

function exportsOf(path: string, file: ReadFile): Set<string> {
  const { exported, stars } = file(path);
  return new Set([...exported.keys(), ...stars.flatMap((star) => [...exportsOf(star, file)])]);
}

/** Where an exported name is declared; nothing for what comes from a package. */
function find(path: string, name: string, file: ReadFile): Found[] {
  const { exported, stars } = file(path);
  const reference = exported.get(name);
  if (reference) return follow(path, reference, file);
  return stars.flatMap((star) => find(star, name, file)).slice(0, 1);
}

function follow(path: string, { from, name }: Reference, file: ReadFile): Found[] {
  if (from !== undefined) return from.startsWith('/') ? find(from, name, file) : [];
  const { declared, imported } = file(path);
  const nodes = declared.get(name);
  if (nodes) return nodes.map((node) => ({ file: path, node }));
  const elsewhere = imported.get(name);
  return elsewhere ? follow(path, elsewhere, file) : [];
}

/** What declarations name that is not itself shown, in the order of names, and what that names in turn. */
function reached(shown: readonly Found[], file: ReadFile): readonly (readonly [string, readonly Found[]])[] {
  const seen = new Set(shown.map(({ node }) => node));
  const needed: [string, Found[]][] = [];
  const queue = [...shown];
  for (let next = queue.shift(); next; next = queue.shift()) {
    const { node, file: path } = next;
    walk(node, (inner) => {
      if (inner.type !== 'Identifier') return;
      const found = follow(path, { from: undefined, name: String(inner['name']) }, file).filter(
        (one) => !seen.has(one.node),
      );
      if (found.length === 0) return;
      for (const one of found) seen.add(one.node);
      queue.push(...found);
      needed.push([String(inner['name']), found]);
    });
  }
  return needed.toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function textOf(found: readonly Found[], file: ReadFile): string {
  if (found.length === 0) return '  (of a package)';
  return found
    .map(({ file: path, node }) => indented(file(path).source.slice(node.start, node['end'] as number)))
    .join('\n');
}

const indented = (text: string): string =>
  text
    .replaceAll(/^[ \t]*\/\*[^]*?\*\/\n?/gm, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => `  ${line.replaceAll('    ', '  ')}`)
    .join('\n');

function readDeclarations(path: string): DeclarationFile {
  const source = readFileSync(path, 'utf8');
  const declared = new Map<string, Node[]>();
  const exported = new Map<string, Reference>();
  const imported = new Map<string, Reference>();
  const stars: string[] = [];
  const declare = (node: Node, isExported: boolean): void => {
    for (const name of declaredNames(node)) {
      declared.set(name, [...(declared.get(name) ?? []), node]);
      if (isExported) exported.set(name, { from: undefined, name });
    }
  };
  for (const node of parse(path, source)['body'] as readonly Node[]) {
    const from = node['source'] ? resolved(path, String(node['source'].value)) : undefined;
    if (node.type === 'ImportDeclaration') {
      for (const one of node['specifiers'] as readonly Node[])
        imported.set(String(one['local'].name), { from, name: String(one['imported']?.name ?? 'default') });
    } else if (node.type === 'ExportAllDeclaration' && from !== undefined) stars.push(from);
    else if (node.type === 'ExportNamedDeclaration') {
      if (node['declaration']) declare(node['declaration'] as Node, true);
      for (const one of node['specifiers'] as readonly Node[])
        exported.set(nameOf(one['exported'] as Node), { from, name: nameOf(one['local'] as Node) });
    } else declare(node, false);
  }
  return { path, source, declared, exported, imported, stars };
}

const nameOf = (node: Node): string => String(node['name'] ?? node['value']);

function declaredNames(node: Node): string[] {
  if (NAMED.has(node.type)) return [nameOf(node['id'] as Node)];
  if (node.type !== 'VariableDeclaration') return [];
  return (node['declarations'] as readonly Node[]).map((one) => nameOf(one['id'] as Node));
}

/** The declarations beside a file, or the name of a package. */
function resolved(path: string, specifier: string): string {
  return specifier.startsWith('.') ? join(dirname(path), specifier.replace(/\.ts$/, '.d.ts')) : specifier;
}
