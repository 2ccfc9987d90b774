import { type Checker, childrenOf, lineOf, type Node, parse, walk } from './source.ts';

const FUNCTIONS = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
  'PropertyDefinition',
]);
const MUTATORS = new Set([
  'set',
  'add',
  'delete',
  'clear',
  'push',
  'pop',
  'shift',
  'unshift',
  'splice',
  'sort',
  'reverse',
  'fill',
  'copyWithin',
]);
/** Calls that change their first argument. */
const CHANGES_ARGUMENT =
  /^(Object\.(assign|defineProperty|defineProperties|setPrototypeOf)|Reflect\.(set|deleteProperty|defineProperty))$/;
/** What a module may build while it loads: lookup tables and values that do nothing by themselves. */
const MAY_BE_NEW = /^(Map|Set|WeakMap|WeakSet|RegExp|URL|TextEncoder|TextDecoder|Intl\..+)$/;

/**
 * Refuses state that outlives a host: a top-level `let` or `var`, a static member that may change, an object with a life
 * of its own (`new Agent()`, `createX()`; React's `createContext` holds nothing), and any change made inside a function to something declared at the top level
 * or imported from another file. A table that is filled while the module loads is not state: nothing changes it later.
 */
export const mutableState: Checker = (path, source) => {
  const program = parse(path, source);
  const found: [node: Node, what: string][] = [];
  const statements = (program['body'] as readonly Node[]).map((node) => (node['declaration'] ?? node) as Node);
  for (const node of statements) {
    if (node.type === 'VariableDeclaration' && node['kind'] !== 'const' && !node['declare'])
      found.push([node, `a top-level ${node['kind']}`]);
    if (path !== 'host/main.ts') found.push(...valuesOf(node).flatMap(livingObjects)); // the composition root makes the one host of a process
  }
  walk(program, (node) => {
    if (node.type === 'PropertyDefinition' && node['static'] && !node['readonly'])
      found.push([node, 'a static member that is not readonly']);
  });
  const names = new Set(statements.flatMap(topLevelNames));
  findChanges(program, { names, isInFunction: false }, (node, name) =>
    found.push([node, `a change to "${name}", which outlives the call`]),
  );
  return found
    .toSorted(([a], [b]) => a.start - b.start)
    .map(([node, what]) => `${path}:${lineOf(source, node)}: ${what}`);
};

/** Names a top-level statement binds: declarations, and what comes from other files of the project. */
function topLevelNames(node: Node): string[] {
  if (node.type === 'VariableDeclaration')
    return (node['declarations'] as readonly Node[]).flatMap(({ id }) => patternNames(id as Node));
  if (node.type === 'ClassDeclaration' || node.type === 'FunctionDeclaration') return [String(node['id']?.name)];
  const isOurs = node.type === 'ImportDeclaration' && /^(\.|gw\/)/.test(String(node['source'].value));
  return isOurs ? (node['specifiers'] as readonly Node[]).map(({ local }) => String(local.name)) : [];
}

function patternNames(node: Node): string[] {
  switch (node.type) {
    case 'Identifier':
      return [String(node['name'])];
    case 'Property':
      return patternNames(node['value'] as Node);
    case 'AssignmentPattern':
      return patternNames(node['left'] as Node);
    case 'RestElement':
      return patternNames(node['argument'] as Node);
    case 'ObjectPattern':
    case 'ArrayPattern':
      return childrenOf(node).flatMap(patternNames);
    case 'TSParameterProperty':
      return patternNames(node['parameter'] as Node);
    default:
      return [];
  }
}

/** What a top-level statement computes: initial values, or the default export. */
function valuesOf(node: Node): Node[] {
  if (node.type !== 'VariableDeclaration') return /Declaration|Statement/.test(node.type) ? [] : [node];
  return (node['declarations'] as readonly Node[]).flatMap(({ init }) => (init ? [init as Node] : []));
}

/** Objects made while the module loads that are more than data. */
function livingObjects(init: Node): [Node, string][] {
  const found: [Node, string][] = [];
  const look = (node: Node): void => {
    if (FUNCTIONS.has(node.type)) return;
    const callee = node['callee'] ? dotted(node['callee'] as Node) : '';
    if (node.type === 'NewExpression' && !MAY_BE_NEW.test(callee)) found.push([node, `a top-level new ${callee}`]);
    if (
      node.type === 'CallExpression' &&
      (/(^|\.)(create(?!Context$)|open|start)[A-Z]/.test(callee) || FUNCTIONS.has(node['callee'].type))
    )
      found.push([node, `a top-level call of ${callee || 'a function on the spot'}`]);
    childrenOf(node).forEach(look);
  };
  look(init);
  return found;
}

interface Scope {
  /** Top-level names that nothing hides here. */
  readonly names: ReadonlySet<string>;
  readonly isInFunction: boolean;
}

function findChanges(node: Node, scope: Scope, report: (node: Node, name: string) => void): void {
  const inner = FUNCTIONS.has(node.type) ? { names: withoutLocals(scope.names, node), isInFunction: true } : scope;
  const changed = inner.isInFunction ? changedName(node) : undefined;
  if (changed !== undefined && inner.names.has(changed)) report(node, changed);
  for (const child of childrenOf(node)) findChanges(child, inner, report);
}

/** A name declared anywhere in a function hides the top-level one in all of it. */
function withoutLocals(names: ReadonlySet<string>, fn: Node): ReadonlySet<string> {
  const locals = new Set(((fn['params'] ?? []) as readonly Node[]).flatMap(patternNames));
  const look = (node: Node): void => {
    if (node.type === 'VariableDeclarator' || node.type === 'CatchClause')
      for (const name of patternNames((node['id'] ?? node['param'] ?? node) as Node)) locals.add(name);
    if (node !== fn && FUNCTIONS.has(node.type)) {
      if (node['id']) locals.add(String(node['id'].name));
      return;
    }
    childrenOf(node).forEach(look);
  };
  look(fn);
  return locals.size === 0 ? names : names.difference(locals);
}

/** The variable a node changes something of. */
function changedName(node: Node): string | undefined {
  switch (node.type) {
    case 'AssignmentExpression':
      return rootOf(node['left'] as Node);
    case 'UpdateExpression':
      return rootOf(node['argument'] as Node);
    case 'UnaryExpression':
      return node['operator'] === 'delete' ? rootOf(node['argument'] as Node) : undefined;
    case 'CallExpression': {
      const callee = node['callee'] as Node;
      const [first] = node['arguments'] as readonly Node[];
      if (first && CHANGES_ARGUMENT.test(dotted(callee))) return rootOf(first);
      const changes = callee.type === 'MemberExpression' && MUTATORS.has(String(callee['property'].name));
      return changes ? rootOf(callee['object'] as Node) : undefined;
    }
    default:
      return undefined;
  }
}

/** `table` of `table`, `table.a[0]`, `table.get(key)!.list`. */
function rootOf(node: Node): string | undefined {
  switch (node.type) {
    case 'Identifier':
      return String(node['name']);
    case 'MemberExpression':
      return rootOf(node['object'] as Node);
    case 'ChainExpression':
    case 'TSNonNullExpression':
    case 'TSAsExpression':
      return rootOf(node['expression'] as Node);
    case 'CallExpression':
      return /\.(get|at)$/.test(dotted(node['callee'] as Node)) ? rootOf(node['callee'].object as Node) : undefined;
    default:
      return undefined;
  }
}

function dotted(node: Node): string {
  if (node.type === 'Identifier') return String(node['name']);
  if (node.type !== 'MemberExpression') return '';
  const member = node['computed'] ? String(node['property'].value ?? '') : String(node['property'].name);
  return `${dotted(node['object'] as Node)}.${member}`;
}

const READERS: Readonly<Record<string, readonly string[]>> = {
  'host/main.ts': ['env', 'argv'],
  'host/embed/create-gateway.ts': ['env'],
  'host/ensure-installed.js': ['argv'],
  'host/gw.js': ['argv', 'env'],
  'host/keep-data.js': ['env'],
};

/** Refuses `process.env` and `process.argv` outside the composition root, and the bin that hands both on. */
export const processUse: Checker = (path, source) => {
  const found: string[] = [];
  const isProcess = (node: Node | null): boolean =>
    node !== null && /^(globalThis\.|global\.)?process$/.test(dotted(node));
  walk(parse(path, source), (node) => {
    const used: string[] = [];
    if (node.type === 'MemberExpression' && isProcess(node['object'] as Node))
      used.push(dotted(node).split('.').at(-1) ?? '');
    if (node.type === 'VariableDeclarator' && isProcess(node['init'] as Node | null))
      used.push(...((node['id']['properties'] ?? []) as readonly Node[]).map((each) => String(each['key']?.name)));
    for (const member of used) {
      if ((member === 'env' || member === 'argv') && !READERS[path]?.includes(member))
        found.push(`${path}:${lineOf(source, node)}: process.${member}`);
    }
  });
  return found;
};

const CLOCKS_AND_CHANCE =
  /^(globalThis\.)?(Date\.now|performance\.now|Math\.random|crypto\.(randomUUID|getRandomValues)|setTimeout|setInterval|setImmediate|Date)$/;

/** Refuses the global fetch in host and modules, and in modules every clock, timer and source of chance. */
export const impureCalls: Checker = (path, source) => {
  const isModule = /^(examples\/[^/]+\/)?(providers|strategies|plugins)\//.test(path);
  if (!isModule && !path.startsWith('host/')) return [];
  const found: string[] = [];
  walk(parse(path, source), (node) => {
    const used = usedFunction(node);
    const isRefused = /^(globalThis\.|global\.)?fetch$/.test(used) || (isModule && CLOCKS_AND_CHANCE.test(used));
    if (isRefused) found.push(`${path}:${lineOf(source, node)}: ${used}`);
    if (node.type !== 'ImportDeclaration' || node['source'].value !== 'undici') return;
    for (const { imported } of node['specifiers'] as readonly Node[])
      if (imported?.name === 'fetch') found.push(`${path}:${lineOf(source, node)}: fetch of undici`);
  });
  return found;
};

/** The function a node calls or constructs; `new Date(value)` reads no clock. */
function usedFunction(node: Node): string {
  if (node.type === 'CallExpression') return dotted(node['callee'] as Node);
  return node.type === 'NewExpression' && node['arguments'].length === 0 ? dotted(node['callee'] as Node) : '';
}

/** Refuses `any`, `value!` and `name!: type`. */
export const looseTypes: Checker = (path, source) => {
  const found: string[] = [];
  walk(parse(path, source), (node) => {
    if (node.type === 'TSAnyKeyword') found.push(`${path}:${lineOf(source, node)}: any`);
    if (node.type === 'TSNonNullExpression' || node['definite'] === true)
      found.push(`${path}:${lineOf(source, node)}: !`);
  });
  return found;
};
