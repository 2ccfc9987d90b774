/** Rows of a file that are kept in order of a name: of a table, or of an object in source. */
export interface SortedRows {
  /** The names of the rows, in the order of the file. */
  readonly names: (text: string) => readonly string[];
  /** The text with one row more, before the first whose name is greater. Throws where the rows are not found. */
  readonly withRow: (text: string, name: string, row: string) => string;
}

interface Region {
  /** The line that the rows follow. */
  readonly after: string | RegExp;
  /** The first line that is not among the rows any more. */
  readonly until: RegExp;
  /** What a row begins with; its first group is the name. */
  readonly row: RegExp;
}

/** A table of Markdown under a heading; the name stands in its first cell unless said. */
export const tableUnder = (heading: string, row = /^\| `([a-z0-9-]+)`/): SortedRows =>
  sortedRows({ after: heading, until: /^#+ /, row });

/** The members of an object that a line of source opens. */
export const membersOf = (opening: RegExp): SortedRows =>
  sortedRows({ after: opening, until: /^\};?$/, row: /^ {2}'?([a-z0-9-]+)'?: / });

function sortedRows({ after, until, row }: Region): SortedRows {
  const isBegin = (line: string): boolean => (typeof after === 'string' ? line === after : after.test(line));
  const bounds = (lines: readonly string[]): readonly [first: number, end: number] => {
    const first = lines.findIndex(isBegin) + 1;
    if (first === 0) throw new Error(`no line is ${String(after)}`);
    const length = lines.slice(first).findIndex((line) => until.test(line));
    return [first, length < 0 ? lines.length : first + length];
  };
  const rowsIn = (lines: readonly string[]): readonly (readonly [name: string, at: number])[] => {
    const [first, end] = bounds(lines);
    return lines.slice(first, end).flatMap((line, index) => {
      const name = row.exec(line)?.[1];
      return name === undefined ? [] : [[name, first + index] as const];
    });
  };
  return {
    names: (text) => rowsIn(text.split('\n')).map(([name]) => name),
    withRow(text, name, added) {
      const lines = text.split('\n');
      const rows = rowsIn(lines);
      const next = rows.find(([each]) => each > name)?.[1];
      const at = next === undefined ? endOfLast(lines, rows.at(-1)?.[1], bounds(lines)) : aboveComment(lines, next);
      return lines.toSpliced(at, 0, added).join('\n');
    },
  };
}

/** A comment above a row stays with it. */
function aboveComment(lines: readonly string[], row: number): number {
  let at = row;
  while (/^ {2,}(\/\/|\/\*\*|\*)/.test(lines[at - 1] ?? '')) at -= 1;
  return at;
}

/** A row of a table is one line; a member of an object goes on to the line that closes the object. */
function endOfLast(
  lines: readonly string[],
  last: number | undefined,
  [first, end]: readonly [number, number],
): number {
  if (last === undefined) return first;
  return lines[last]?.startsWith('|') ? last + 1 : end;
}
