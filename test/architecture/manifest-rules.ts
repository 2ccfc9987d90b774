import { nodesOf, parse, type Node } from './source.ts';

export const MANIFEST = 'builtins/manifest.ts';
const ROOTS = ['builtins', 'providers', 'strategies', 'plugins'] as const;

/** A shipped module as the folders show it. */
export interface ModuleFile {
  readonly root: (typeof ROOTS)[number];
  /** The name of its folder or file; of a builtin, its file's. */
  readonly name: string;
  readonly path: string;
}

/**
 * The module files among these: one folder or file per provider, strategy and plugin; of the builtins every file with a
 * default export, those of the dashboard's pages aside. Names with `_` or `.` in front are helpers.
 */
export function moduleFiles(files: readonly string[], read: (path: string) => string): ModuleFile[] {
  return files.flatMap((path): ModuleFile[] => {
    const [root, ...rest] = path.split('/') as [ModuleFile['root'], ...string[]];
    if (path === MANIFEST || !ROOTS.includes(root) || /^[._]/.test(rest[0] ?? '')) return [];
    const name = (rest.at(-1) ?? '').replace(/\.[cm]?[jt]sx?$/, '');
    if (root === 'builtins')
      return !path.startsWith('builtins/dashboard/app/') && exportsDefault(path, read(path))
        ? [{ root, name, path }]
        : [];
    if (rest.length === 1) return [{ root, name, path }];
    return rest.length === 2 && name === 'index' ? [{ root, name: rest[0] ?? '', path }] : [];
  });
}

/** Most files hold no such text, and are not parsed. */
const exportsDefault = (path: string, source: string): boolean =>
  source.includes('export default') && nodesOf(path, source, 'ExportDefaultDeclaration').length > 0;

interface Listed {
  readonly name: string;
  readonly path: string;
}

/** Compares the manifest with the folders: everything imported once, sorted by kind and path, and listed in that order. */
export function manifestProblems(source: string, modules: readonly ModuleFile[]): string[] {
  const program = parse(MANIFEST, source);
  const body = program['body'] as readonly Node[];
  const imports = body
    .filter((node) => node.type === 'ImportDeclaration' && node['importKind'] !== 'type')
    .map(defaultImport);
  const paths = imports.map(({ path }) => path);
  const inOrder = paths.toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  const names = (array: string): string[] => arrayOf(body, array);
  const listed = [...names('BUILTINS'), ...names('MODULES')];
  return [
    ...modules.filter(({ path }) => !paths.includes(path)).map(({ path }) => `${path} is not imported`),
    ...paths
      .filter((path) => !modules.some((module) => module.path === path))
      .map((path) => `${path} is imported but is not a module file`),
    ...paths
      .filter((path, at) => path !== inOrder[at])
      .slice(0, 1)
      .map((path) => `${path} is not in order: builtins, providers, strategies, plugins, each by path`),
    ...imports
      .map(({ name }) => name)
      .filter((name, at) => name !== listed[at])
      .slice(0, 1)
      .map((name) => `${name} is not listed in the order of the imports`),
    ...listed.slice(imports.length).map((name) => `${name} is listed but not imported`),
  ];
}

function defaultImport(node: Node): Listed {
  const path = String(node['source'].value);
  return {
    name: String(node['specifiers'][0]?.local.name),
    path: path.startsWith('../') ? path.slice(3) : `builtins/${path.slice(2)}`,
  };
}

const rank = (path: string): number => ROOTS.indexOf(path.split('/')[0] as ModuleFile['root']);

function arrayOf(body: readonly Node[], name: string): string[] {
  const declarations = body.flatMap((node) => (node['declaration']?.declarations ?? []) as readonly Node[]);
  const elements = declarations.find((node) => node['id'].name === name)?.['init'].elements as
    | readonly Node[]
    | undefined;
  return (elements ?? []).map((element) => String(element['name']));
}

export interface TestFile {
  readonly path: string;
  readonly source: string;
}

/** Modules that no test is named after: neither a file or folder under `test`, nor a `describe`. */
export function untested(modules: readonly ModuleFile[], tests: readonly TestFile[]): string[] {
  const places = tests.map(({ path }) => path.replace(/\.test\.ts$/, '').split('/'));
  const isTitle = (name: string): boolean =>
    tests
      .filter(({ source }) => source.includes(name))
      .flatMap(({ path, source }) => describeTitles(path, source))
      .some((title) => title.split(/[\s,:"'`()]+/).includes(name));
  const isNamed = (name: string): boolean => places.some((parts) => parts.includes(name)) || isTitle(name);
  return modules.filter(({ name }) => !isNamed(name)).map(({ path }) => path);
}

function describeTitles(path: string, source: string): string[] {
  const calls = nodesOf(path, source, 'CallExpression').filter((node) => node['callee'].name === 'describe');
  return calls.map((node) =>
    String(node['arguments'][0]?.value ?? node['arguments'][0]?.quasis?.[0]?.value.cooked ?? ''),
  );
}

/** Modules without a row of their own in a catalogue table: `| \`name\` |`. */
export function undocumented(modules: readonly ModuleFile[], page: string): string[] {
  return modules
    .filter(({ name }) => !page.split('\n').some((line) => line.startsWith(`| \`${name}\` |`)))
    .map(({ path }) => path);
}
