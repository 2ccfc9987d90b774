import { type Checker, lineOf, type Node, nodesOf } from './source.ts';

/** Calls that ask the catalog for something other than what a target serves, by file: the first argument as it is written. */
export const OTHER_LOOKUPS: Readonly<Record<string, readonly string[]>> = {
  'builtins/admin/lists/provider-catalog.ts': ['provider', 'module.name'], // every provider of this build, with or without a target
  'host/pipeline/billing/catalog-entry.ts': ['name.slice(0, slash)'], // the vendor that a provider names as describing the model
};

const LOOKUPS = new Set(['entry', 'cost', 'tokenPrice', 'modelsOf']);

/** Refuses lookups in the catalog by another name than a target's `catalogProvider`: two targets may be of one provider. */
export const catalogLookups: Checker = (path, source) =>
  nodesOf(path, source, 'CallExpression')
    .filter(({ callee }) => callee.type === 'MemberExpression' && LOOKUPS.has(callee.property.name))
    .filter(({ callee }) => /(^|\.)catalog$/.test(textOf(source, callee.object)))
    .map((node) => ({ asked: textOf(source, node['arguments'][0]), line: lineOf(source, node) }))
    .filter(({ asked }) => !asked.includes('catalogProvider') && !OTHER_LOOKUPS[path]?.includes(asked))
    .map(({ asked, line }) => `${path}:${line}: ${asked}`);

const textOf = (source: string, node: Node): string => source.slice(node.start, node['end'] as number);
