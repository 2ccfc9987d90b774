import { padded, widthOf } from '../../host/cli/text-width.ts';
import { visibleText } from '../../host/cli/visible-text.ts';
import { ConfigRefused, isDecodeProblem, problemLine, type Problem } from '../../host/config/problems.ts';

/** What is wrong with a configuration, a line each, under one heading. */
export function problemReport(problems: readonly Problem[]): string {
  const heading = problems.some(isDecodeProblem) ? 'Error: load config:' : 'Error: validation failed:';
  return visibleText(
    [heading, ...problems.flatMap((problem) => [`  ${problemLine(problem)}`, ...frameLines(problem)]), ''].join('\n'),
  );
}

const frameLines = ({ frame }: Problem): string[] =>
  frame === undefined ? [] : frame.split('\n').map((line) => `      ${line}`);

/** The report of a refused configuration; `undefined` for other errors. */
export function refusalReport(error: unknown): string | undefined {
  return error instanceof ConfigRefused ? problemReport(error.problems) : undefined;
}

/** Left-aligned columns, three spaces apart, with dashes under the header. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = columnWidths(header, rows);
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => padded(cell, widths[column] ?? 0))
      .join('   ')
      .trimEnd();
  return [line(header), line(header.map((title) => '-'.repeat(title.length))), ...rows.map(line)].join('\n');
}

/** How wide each column of a table is. */
export const columnWidths = (header: readonly string[], rows: readonly (readonly string[])[]): number[] =>
  header.map((title, column) => rows.reduce((most, row) => Math.max(most, widthOf(row[column] ?? '')), title.length));
