import { childrenOf, type Node, parse } from '../architecture/source.ts';

/** One small change of one file. */
export interface Site {
  readonly path: string;
  readonly line: number;
  /** From 1, in UTF-16 code units. */
  readonly column: number;
  /** Where the code stands that is replaced, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** What is changed, in words. */
  readonly what: string;
}

type Change = Omit<Site, 'path' | 'line' | 'column'>;

const COMPARISONS: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
};
const ARITHMETIC: Readonly<Record<string, string>> = { '+': '-', '-': '+', '*': '/', '/': '*' };
const LOGIC: Readonly<Record<string, string>> = { '&&': '||', '||': '&&' };
const SMALL = 10;

/** Nodes of the type system that hold code; all others are types alone. */
const WRAPPERS = new Set([
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'TSTypeAssertion',
  'TSInstantiationExpression',
]);

/** Every change that the operators know to make in a file. */
export function sitesOf(path: string, source: string): Site[] {
  const sites: Site[] = [];
  visit(parse(path, source), (node) => {
    for (const change of changesOf(node, source)) sites.push({ path, ...placeOf(source, change.start), ...change });
  });
  return sites;
}

function placeOf(source: string, start: number): Pick<Site, 'line' | 'column'> {
  const lines = source.slice(0, start).split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

/** The file after the change. */
export function mutated(source: string, { start, end, replacement }: Site): string {
  return source.slice(0, start) + replacement + source.slice(end);
}

function visit(node: Node, look: (node: Node) => void): void {
  if (WRAPPERS.has(node.type)) {
    visit(node['expression'] as Node, look);
    return;
  }
  if (node.type.startsWith('TS') || node.type === 'ImportDeclaration') return;
  look(node);
  for (const child of childrenOf(node)) visit(child, look);
}

function changesOf(node: Node, source: string): Change[] {
  switch (node.type) {
    case 'IfStatement':
    case 'ConditionalExpression':
      return [replace(node['test'] as Node, (code) => `!(${code})`, 'negate the condition', source)];
    case 'BinaryExpression':
      return [
        operator(node, COMPARISONS, source),
        isText(node) ? undefined : operator(node, ARITHMETIC, source),
      ].filter((change) => change !== undefined);
    case 'LogicalExpression':
      return [operator(node, LOGIC, source)].filter((change) => change !== undefined);
    case 'UnaryExpression':
      return node['operator'] === '!'
        ? [replace(node, () => code(node['argument'] as Node, source), 'drop the "!"', source)]
        : [];
    case 'ExpressionStatement':
      return isCall(node['expression'] as Node) ? [replace(node, () => ';', 'drop the call', source)] : [];
    case 'ThrowStatement':
      return [replace(node, () => ';', 'throw nothing', source)];
    case 'ReturnStatement':
      return node['argument'] && !isFlagOrNothing(node['argument'] as Node)
        ? [replace(node['argument'] as Node, () => 'undefined', 'return undefined', source)]
        : [];
    case 'ArrowFunctionExpression':
      return node['body'].type === 'BlockStatement' || isFlagOrNothing(node['body'] as Node)
        ? []
        : [replace(node['body'] as Node, () => 'undefined', 'return undefined', source)];
    case 'AwaitExpression':
      return [replace(node, () => `(${code(node['argument'] as Node, source)})`, 'do not wait', source)];
    case 'Literal':
      return literal(node, source);
    default:
      return [];
  }
}

/** `undefined` in its place is the same, or nearly: `true` and `false` are changed into each other. */
const isFlagOrNothing = (node: Node): boolean =>
  (node.type === 'Identifier' && node['name'] === 'undefined') ||
  (node.type === 'Literal' && typeof node['value'] === 'boolean');

const code = (node: Node, source: string): string => source.slice(node.start, node['end'] as number);

function replace(node: Node, by: (code: string) => string, what: string, source: string): Change {
  return { start: node.start, end: node['end'] as number, replacement: by(code(node, source)), what };
}

/** The operator stands between its sides, with brackets and comments perhaps. */
function operator(node: Node, others: Readonly<Record<string, string>>, source: string): Change | undefined {
  const written = String(node['operator']);
  const other = others[written];
  if (other === undefined) return undefined;
  const from = node['left']['end'] as number;
  const start = source.indexOf(written, from);
  return start < 0 || start >= (node['right'] as Node).start
    ? undefined
    : { start, end: start + written.length, replacement: other, what: `"${other}" in place of "${written}"` };
}

/** Adding texts has no opposite. */
const isText = (node: Node): boolean =>
  node['operator'] === '+' &&
  [node['left'], node['right']].some(
    (side: Node) => side.type === 'TemplateLiteral' || typeof side['value'] === 'string',
  );

function isCall(node: Node): boolean {
  const called =
    node.type === 'AwaitExpression' || (node.type === 'UnaryExpression' && node['operator'] === 'void')
      ? (node['argument'] as Node)
      : node;
  return called.type === 'CallExpression' && called['callee'].type !== 'Super';
}

function literal(node: Node, source: string): Change[] {
  const { value } = node as unknown as { readonly value: unknown };
  if (typeof value === 'boolean') return [replace(node, () => String(!value), `${value} becomes ${!value}`, source)];
  if (typeof value !== 'number') return [];
  const other = value <= SMALL ? value + 1 : value * 10;
  return [replace(node, () => String(other), `${value} becomes ${other}`, source)];
}
