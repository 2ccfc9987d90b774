import { type Checker, lineOf, nodesOf } from './source.ts';

/** Places where a word that is the name of a provider means something else, or stands for good reason. Paths are files, or folders with a slash at the end. */
export const OTHER_MEANINGS: readonly {
  readonly word: string;
  readonly in: readonly string[];
  readonly why: string;
}[] = [
  {
    word: 'gemini',
    in: ['builtins/wires/', 'builtins/auth/', 'host/contract/text/client-body.ts', 'host/registry/module-shapes.ts'],
    why: 'the wire of clients',
  },
  {
    word: 'echo',
    in: ['builtins/surfaces/completions.ts', 'builtins/wires/responses/'],
    why: 'what a request asks for, or is given back',
  },
  {
    word: 'echo',
    in: ['builtins/dashboard/app/src/pages/configuration/target-form.tsx'],
    why: 'the name that a new target has where no provider is left: this one needs no credential',
  },
];

/** The list of what is shipped; what builds the catalog from the price lists of vendors; what checks an import without asking the modules, which have made it. */
const BY_NAME = ['builtins/manifest.ts', 'builtins/catalog/build/', 'builtins/cli/import/proof/'];

const isIn = (path: string, places: readonly string[]): boolean =>
  places.some((place) => (place.endsWith('/') ? path.startsWith(place) : path === place));

/** Refuses the names of these providers as texts and as names of members: what is known of a vendor stands in its module. */
export const vendorNames =
  (providers: ReadonlySet<string>): Checker =>
  (path, source) => {
    if (isIn(path, BY_NAME)) return [];
    const allowed = new Set(OTHER_MEANINGS.flatMap(({ word, in: places }) => (isIn(path, places) ? [word] : [])));
    return wordsIn(path, source)
      .filter(({ word }) => providers.has(word) && !allowed.has(word))
      .map(({ word, line }) => `${path}:${line}: ${word}`);
  };

export interface Word {
  readonly word: string;
  readonly line: number;
}

/** Whole texts, and names of members: of objects, types and classes, where they are declared and where they are read. */
export function wordsIn(path: string, source: string): Word[] {
  const texts = nodesOf(path, source, 'Literal', 'TemplateElement').map((node) => ({
    word: node.type === 'Literal' ? node['value'] : node['value'].cooked,
    node,
  }));
  const members = nodesOf(path, source, 'Property', 'PropertyDefinition', 'TSPropertySignature', 'MemberExpression')
    .map((node) => ({ word: (node['key'] ?? node['property']).name, node, isComputed: node['computed'] === true }))
    .filter(({ isComputed }) => !isComputed);
  return [...texts, ...members]
    .filter(({ word }) => typeof word === 'string')
    .map(({ word, node }) => ({ word: String(word), line: lineOf(source, node) }));
}
