import { createHostHooks } from '../../host/host-hooks.ts';
import { createGenerationHooks } from '../../host/pipeline/hooks.ts';
import { type Checker, lineOf, type Node, parse, walk } from './source.ts';

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
  'host/host-hooks.ts',
  'host/hooks/seal.ts',
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
