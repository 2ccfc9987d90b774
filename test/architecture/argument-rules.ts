import { type Checker, lineOf, type Node, parse, walk } from './source.ts';

/** Calls that take a list's items as arguments, and may: what is spread has a bound that does not come from outside. */
export const SHORT_LISTS: Readonly<Record<string, readonly string[]>> = {};

const ADDERS = new Set(['push', 'unshift', 'splice', 'concat']);

export interface Spread {
  readonly text: string;
  readonly line: number;
}

/** Refuses `list.push(...others)` and the like: a call with more than some hundred thousand arguments ends in a `RangeError`. */
export const spreadArguments: Checker = (path, source) => {
  const allowed = SHORT_LISTS[path] ?? [];
  return spreadsIn(path, source)
    .filter(({ text }) => !allowed.includes(text))
    .map(({ text, line }) => `${path}:${line}: ${text}`);
};

export function spreadsIn(path: string, source: string): Spread[] {
  const found: Spread[] = [];
  walk(parse(path, source), (node) => {
    if (node.type !== 'CallExpression' || !takesManyArguments(node['callee'] as Node)) return;
    for (const argument of node['arguments'] as readonly Node[]) {
      if (argument.type === 'SpreadElement' && !isWrittenOut(argument['argument'] as Node))
        found.push({ text: source.slice(node.start, node['end']), line: lineOf(source, node) });
    }
  });
  return found;
}

/** Methods that add to a list, and functions of the language that take any number of values. */
function takesManyArguments(callee: Node): boolean {
  if (callee.type !== 'MemberExpression') return false;
  const { object, property, computed } = callee;
  if (computed) return false;
  return ADDERS.has(String(property.name)) || /^(Math|String|Array|Object)$/.test(String((object as Node)['name']));
}

/** A list that stands there with its items, and whatever is chosen of such lists. */
function isWrittenOut(node: Node): boolean {
  switch (node.type) {
    case 'ArrayExpression':
      return (node['elements'] as readonly (Node | null)[]).every(
        (item) => item?.type !== 'SpreadElement' || isWrittenOut(item['argument'] as Node),
      );
    case 'ConditionalExpression':
      return isWrittenOut(node['consequent'] as Node) && isWrittenOut(node['alternate'] as Node);
    default:
      return false;
  }
}
