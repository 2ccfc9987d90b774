import type { CommandIo, OutputFormat, Terminal } from '../../host/cli/command.ts';
import { cutToWidth, padded } from '../../host/cli/text-width.ts';
import { visibleLine } from '../../host/cli/visible-text.ts';
import { isFields } from '../../host/contract/json/fields.ts';
import { columnWidths, table } from './report.ts';

export type Row = Readonly<Record<string, unknown>>;

export const isRow = (value: unknown): value is Row => isFields(value);

export interface Column {
  readonly title: string;
  readonly cell: (row: Row) => string;
}

/** Prints data: as JSON or YAML, or as the text given for people. */
export async function printData(
  io: CommandIo,
  format: OutputFormat,
  value: unknown,
  forPeople?: () => string,
): Promise<void> {
  if (format === 'yaml') io.out((await import('./yaml-text.ts')).yamlText(value));
  else if (format === 'json' || !forPeople) io.out(`${JSON.stringify(value, undefined, 2)}\n`);
  else io.out(`${forPeople()}\n`);
}

/** Says that something was done; `facts` is the same as data. */
export const printDone = (io: CommandIo, format: OutputFormat, text: string, facts: object): Promise<void> =>
  printData(io, format, facts, () => `${symbol('OK', io.terminal)} ${text}`);

/** Prints rows: as they are, or the columns of them. On a terminal no line is longer than it is wide. */
export async function printRows(
  io: CommandIo,
  format: OutputFormat,
  rows: readonly Row[],
  columns: readonly Column[],
): Promise<void> {
  await printData(io, format, rows, () =>
    fitted(
      rows.map((row) => columns.map(({ cell }) => cell(row))),
      columns.map(({ title }) => title),
      io.terminal,
    ),
  );
}

/** Further rows of a table that was begun: no header, and each as wide as it is. */
export function printMore({ out }: CommandIo, rows: readonly Row[], columns: readonly Column[]): void {
  for (const row of rows)
    out(
      `${columns
        .map(({ title, cell }) => padded(cell(row), title.length))
        .join('   ')
        .trimEnd()}\n`,
    );
}

const BETWEEN_COLUMNS = 3;
/** Narrower than this no column is made. */
const LEAST_COLUMN = 4;

/** The widest columns are cut, first to their titles, then titles too; of lines that are too long after that, the ends. */
function fitted(
  cells: readonly (readonly string[])[],
  titles: readonly string[],
  terminal: Terminal | undefined,
): string {
  const room = (terminal?.columns || Infinity) - (titles.length - 1) * BETWEEN_COLUMNS;
  const toTitles = narrowed(
    columnWidths(titles, cells),
    titles.map((title) => Math.max(title.length, LEAST_COLUMN)),
    room,
  );
  const widths = narrowed(
    toTitles,
    titles.map(() => LEAST_COLUMN),
    room,
  );
  const cut = (row: readonly string[]): string[] => row.map((cell, at) => cutToWidth(cell, widths[at] ?? 0));
  return table(cut(titles), cells.map(cut))
    .split('\n')
    .map((line) => cutTo(line, terminal))
    .join('\n');
}

/** Takes what is too much from the widest first, and from none more than leaves it its least width. */
function narrowed(widths: readonly number[], least: readonly number[], room: number): readonly number[] {
  const excess = widths.reduce((all, one) => all + one, 0) - room;
  const spare = (at: number): number => (widths[at] ?? 0) - (least[at] ?? 0);
  const [widest] = [...widths.keys()]
    .filter((at) => spare(at) > 0)
    .toSorted((one, other) => (widths[other] ?? 0) - (widths[one] ?? 0));
  if (excess <= 0 || widest === undefined) return widths;
  return narrowed(widths.with(widest, (widths[widest] ?? 0) - Math.min(excess, spare(widest))), least, room);
}

/** A line without colours that a terminal is to show whole, behind so many other columns: where it is too long, its end is left out. */
export const cutTo = (text: string, terminal: Terminal | undefined, behind = 0): string =>
  cutToWidth(text, Math.max((terminal?.columns || Infinity) - behind, 1));

/** A member as text, a dash when there is none. Control characters, which a terminal would obey, are shown as codes. */
export function textOf(value: unknown, absent = '-'): string {
  if (value === undefined || value === null || value === '') return absent;
  const text = Array.isArray(value) ? value.join(',') : typeof value === 'string' ? value : JSON.stringify(value);
  return visibleLine(text);
}

export const column = (title: string, member: string, absent = '-'): Column => ({
  title,
  cell: (row) => textOf(row[member], absent),
});

/** A moment of the member: UTC in one form, on a terminal the local time and how long ago. Without `now` it is UTC there too. */
export const timeColumn = (
  title: string,
  member: string,
  { terminal }: CommandIo,
  now: number | undefined,
): Column => ({ title, cell: (row) => timeOf(row[member], terminal ? now : undefined) });

/** `now` asks for the local time with its distance from it. What is not a time is shown as it is. */
export function timeOf(value: unknown, now: number | undefined): string {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(at)) return textOf(value);
  if (now === undefined) return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16).replace('T', ' ');
  return `${local} (${distance(now - at)})`;
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;

function distance(ms: number): string {
  const [unit, size] = UNITS.find(([, one]) => Math.abs(ms) >= one) ?? ['s', 1000];
  const count = Math.floor(Math.abs(ms) / size);
  return ms < 0 ? `in ${count}${unit}` : `${count}${unit} ago`;
}

const COLOURS = { OK: 32, X: 31, '!': 33, '-': 90 } as const;

/** `[OK]` and the like, in colour where the terminal shows it. */
export function symbol(name: keyof typeof COLOURS, terminal: Terminal | undefined): string {
  return terminal?.isColoured ? `\u001b[${COLOURS[name]}m[${name}]\u001b[0m` : `[${name}]`;
}
