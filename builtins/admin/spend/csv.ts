/** A cell of a table: texts are guarded against programs that would run them. */
export type Cell = string | { readonly figure: string };

/** What spreadsheets take for a formula, at the beginning of a text. */
const FORMULA = /^[=+\-@\t\r\n]/;
const QUOTED = /[",\r\n]/;

/** A number as it stands: not guarded, so that it may begin with a minus. */
export const figure = (value: number | string): Cell => ({ figure: String(value) });

/** Lines of a table as RFC 4180 has them, each with its end. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map((cell) => (typeof cell === 'string' ? textCell(cell) : cell.figure)).join(',')}\r\n`;
}

function textCell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return QUOTED.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
