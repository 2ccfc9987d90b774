import { type Checker, lineOf, type Node, nodesOf } from './source.ts';

/** Every column there is, in SQL: of the statement, of one of its tables, or of the rows that it changed. `count(*)` is none of these. */
const EVERY_COLUMN = /\b(?:SELECT(?:\s+DISTINCT)?|RETURNING)\s+\*|[,\s]\w+\.\*/i;
/** `x` stands for what a template fills in. */
const NAMELESS_INSERT = /\bINSERT\s+INTO\s+[\w".]+\b(?!\s*\()/i;
/** Methods of knex that read columns: all of them without a name. */
const READERS = new Set(['select', 'first', 'returning', 'columns']);

/**
 * Refuses statements that do not name the columns that they read or write: a table may have columns of a newer program
 * (docs/stores.md#versions-of-the-tables).
 */
export const namelessColumns: Checker = (path, source) => {
  const texts = nodesOf(path, source, 'Literal', 'TemplateLiteral').filter((node) => isNameless(textOf(node)));
  const calls = nodesOf(path, source, 'CallExpression').filter(readsAll);
  return [...texts, ...calls].map(
    (node) => `${path}:${lineOf(source, node)}: ${source.slice(node.start, node['end'])}`,
  );
};

const isNameless = (text: string): boolean => EVERY_COLUMN.test(text) || NAMELESS_INSERT.test(text);

function textOf(node: Node): string {
  if (node.type === 'Literal') return String(node['value']);
  return (node['quasis'] as readonly Node[]).map(({ value }) => String(value.cooked)).join('x');
}

function readsAll({ callee, arguments: given }: Node): boolean {
  if (callee.type !== 'MemberExpression' || !READERS.has(String(callee.property.name))) return false;
  const names = (given as readonly Node[]).flatMap((each) =>
    each.type === 'ArrayExpression' ? (each['elements'] as readonly Node[]) : [each],
  );
  return names.some((name) => name.type === 'Literal' && /(?:^|\.)\*$/.test(String(name['value'])));
}
