import { read } from '../architecture/source.ts';

const isRule = (line = ''): boolean => /^\|[\s:|-]+\|$/.test(line);

/** The rows of every Markdown table of a page under `docs`, cells trimmed, headings left out. */
export function tableRows(page: string): string[][] {
  return rowsOf(read(`docs/${page}`));
}

/** Rows of the tables that stand under one heading, down to the next heading of any level. */
export function rowsUnder(page: string, heading: string): string[][] {
  const [, after] = read(`docs/${page}`).split(`\n${heading}\n`);
  if (after === undefined) throw new Error(`docs/${page} has no heading "${heading}"`);
  return rowsOf(after.split(/\n#+ /)[0] ?? '');
}

function rowsOf(text: string): string[][] {
  const lines = text.split('\n');
  return lines.filter((line, index) => line.startsWith('|') && !isRule(line) && !isRule(lines[index + 1])).map(cellsOf);
}

function cellsOf(line: string): string[] {
  return line
    .slice(1, line.lastIndexOf('|'))
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));
}

/** What a cell holds between backticks, in order. */
export function codes(cell = ''): string[] {
  return [...cell.matchAll(/`([^`]*)`/g)].map(([, code]) => code ?? '');
}
