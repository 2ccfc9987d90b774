import { type Checker, childrenOf, lineOf, type Node, parse } from './source.ts';

/** Lines of code and comment that are not blank, and those of them inside doc comments. */
export interface DocShare {
  readonly lines: number;
  readonly documented: number;
}

export function docShare(source: string): DocShare {
  let lines = 0;
  let documented = 0;
  let isInside = false;
  for (const line of source.split('\n')) {
    const text = line.trim();
    if (text === '') continue;
    lines += 1;
    if (text.startsWith('/**')) isInside = true;
    if (isInside) documented += 1;
    if (text.endsWith('*/')) isInside = false;
  }
  return { lines, documented };
}

/** Refuses an export that is declared without a doc comment; of overloads the first has it. Names that are only passed on are documented where they are declared. */
export const undocumentedExports: Checker = (path, source) => {
  const names = new Set<string>();
  return childrenOf(parse(path, source)).flatMap((node) => {
    const declaration = node.type === 'ExportNamedDeclaration' ? (node['declaration'] as Node | null) : null;
    if (!declaration) return [];
    return namesOf(declaration)
      .filter((name) => !names.has(name))
      .flatMap((name) => {
        names.add(name);
        const isDocumented = /\/\*\*(?:(?!\*\/)[^])*\*\/\s*$/.test(source.slice(0, node.start));
        return isDocumented ? [] : [`${path}:${lineOf(source, node)}: ${name} has no doc comment`];
      });
  });
};

function namesOf(declaration: Node): string[] {
  const declared = declaration.type === 'VariableDeclaration' ? (declaration['declarations'] as Node[]) : [declaration];
  return declared.map(({ id }) => String(id.name));
}
