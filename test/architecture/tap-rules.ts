import { createHostHooks } from '../../host/host-hooks.ts';
import { createGenerationHooks } from '../../host/pipeline/hooks.ts';
import { type Checker, childrenOf, lineOf, type Node, parse, walk } from './source.ts';

const isAsynchronous = (hook: object): boolean => hook.constructor.name.startsWith('Async');

/** Names of the hooks that wait, as the host itself declares them; per surface where it does. */
const WAITING: ReadonlySet<string> = new Set(
  Object.entries({ ...createHostHooks(), ...createGenerationHooks() })
    .filter(
      ([, hook]) =>
        isAsynchronous(hook) ||
        Object.values(hook as Readonly<Record<string, unknown>>).some(
          (member) => typeof member === 'object' && member !== null && isAsynchronous(member),
        ),
    )
    .map(([name]) => name),
);

/** Where the host taps: once per process or once per applied configuration. Everything else of it runs per request. */
const TAPPING = [
  'host/create-host.ts',
  'host/embed/unread-bodies.ts',
  'host/host-hooks.ts',
  'host/hooks/seal.ts',
  'host/hooks/tap-list.ts',
  'host/generation/',
  'host/pipeline/eventual.ts',
  'host/pipeline/hooks.ts',
  'host/surface-builtin.ts',
  'builtins/',
];

/** Refuses `tap` on a hook that waits (its promise would count as a verdict), and taps in code that runs per request. */
export const tapProblems: Checker = (path, source) => {
  const found: string[] = [];
  walk(parse(path, source), (node) => {
    const callee = node.type === 'CallExpression' ? (node['callee'] as Node) : undefined;
    const method = callee?.type === 'MemberExpression' ? String(callee['property'].name) : '';
    if (!callee || !/^(tap|tapPromise|tapAsync|intercept)$/.test(method)) return;
    const at = `${path}:${lineOf(source, node)}`;
    if (!TAPPING.some((place) => path.startsWith(place))) found.push(`${at}: ${method} where requests run`);
    const hook = hookName(callee['object'] as Node);
    if ((method === 'tap' || method === 'tapAsync') && WAITING.has(hook))
      found.push(`${at}: ${method} on ${hook}; use tapPromise`);
  });
  return found;
};

/** `admit` of `pipeline.admit` and `hooks.onError[surface]`. */
function hookName(node: Node): string {
  if (node.type === 'Identifier') return String(node['name']);
  if (node.type !== 'MemberExpression') return '';
  return node['computed'] ? hookName(node['object'] as Node) : String(node['property'].name);
}

/** Calls that tap; `tapEventual(hook, options, run)` is one as well. */
const TAPS = /^(tap|tapPromise|tapAsync|tapEventual)$/;

/**
 * Refuses a tap that keeps what its hook was called with, or a member of it, in a variable around the tap: another tap would then depend on
 * the first having run. What a tap makes of it (a store, a client) is its own and may be kept. Functions that taps call count too.
 */
export const captureProblems: Checker = (path, source) => {
  const tree = parse(path, source);
  let taps = false;
  walk(tree, (node) => {
    if (node.type === 'CallExpression' && TAPS.test(calledName(node))) taps = true;
  });
  if (!taps) return [];
  const found = new Set<string>();
  walk(tree, (node) => {
    if (!isFunction(node)) return;
    const given = new Set((node['params'] as readonly Node[]).flatMap(namesIn));
    if (given.size === 0) return;
    const own = ownNames(node);
    walk(node['body'] as Node, (inner) => {
      if (inner.type !== 'AssignmentExpression') return;
      const kept = namesIn(inner['left'] as Node).filter((name) => !own.has(name));
      if (kept.length > 0 && keeps(inner['right'] as Node, given))
        found.add(`${path}:${lineOf(source, inner)}: ${kept.join(', ')} keeps what a hook gave one tap`);
    });
  });
  return [...found];
};

function calledName({ callee }: Node): string {
  return String(callee.type === 'MemberExpression' ? callee.property.name : callee.name);
}

const isFunction = ({ type }: Node): boolean =>
  type === 'ArrowFunctionExpression' || type === 'FunctionExpression' || type === 'FunctionDeclaration';

/** Everything that is declared in a function, at any depth. */
function ownNames(node: Node): ReadonlySet<string> {
  const own = new Set<string>();
  walk(node, (inner) => {
    const declared = isFunction(inner) ? (inner['params'] as readonly Node[]) : [];
    const patterns = inner.type === 'VariableDeclarator' ? [inner['id'] as Node] : declared;
    for (const name of patterns.flatMap(namesIn)) own.add(name);
  });
  return own;
}

/** Names that a parameter or the left side of an assignment sets; of `a.b.c` the `a`. */
function namesIn(node: Node): string[] {
  switch (node.type) {
    case 'Identifier':
      return [String(node['name'])];
    case 'MemberExpression':
      return namesIn(node['object'] as Node);
    case 'AssignmentPattern':
      return namesIn(node['left'] as Node);
    case 'RestElement':
      return namesIn(node['argument'] as Node);
    case 'Property':
      return namesIn(node['value'] as Node);
    case 'ObjectPattern':
      return (node['properties'] as readonly Node[]).flatMap(namesIn);
    case 'ArrayPattern':
      return (node['elements'] as readonly (Node | null)[]).flatMap((one) => (one ? namesIn(one) : []));
    default:
      return [];
  }
}

/** Whether a value is one of these names, a member of one, or an object that holds one; not what a call makes of it. */
function keeps(node: Node, given: ReadonlySet<string>): boolean {
  switch (node.type) {
    case 'Identifier':
    case 'MemberExpression':
      return namesIn(node).some((name) => given.has(name));
    case 'ObjectExpression':
    case 'ArrayExpression':
    case 'LogicalExpression':
    case 'ConditionalExpression':
    case 'Property':
    case 'SpreadElement':
    case 'TSAsExpression':
    case 'TSNonNullExpression':
    case 'AssignmentExpression':
      return childrenOf(node).some((child) => keeps(child, given));
    default:
      return false;
  }
}
