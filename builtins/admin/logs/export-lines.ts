import { LOG_COLUMN_LIST } from '../../../host/contract/log-columns.ts';
import type { LogRow } from '../../../host/stores/log/log-repository.ts';
import { type Cell, csvLine, figure } from '../spend/csv.ts';
import { entry } from './entry.ts';

export const EXPORT_FORMATS = ['csv', 'jsonl'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Members of rows, in their order: the columns of an export. */
export const EXPORT_COLUMNS: readonly string[] = LOG_COLUMN_LIST.filter(([, { shown }]) => shown !== 'never').map(
  ([name, { shownAs }]) => shownAs ?? name,
);

/** Rows whose lines are one piece of the answer. */
const PIECE = 50;

/** The text of an export, in pieces; `wrote` hears of the rows of each. */
export async function* exportLines(
  pages: AsyncIterable<readonly LogRow[]>,
  format: ExportFormat,
  columns: readonly string[],
  wrote: (rows: number) => void,
): AsyncGenerator<string> {
  if (format === 'csv') yield csvLine(columns);
  for await (const rows of pages)
    for (let at = 0; at < rows.length; at += PIECE) {
      const part = rows.slice(at, at + PIECE);
      yield part.map((row) => lineOf(entry(row) as Readonly<Record<string, unknown>>, format, columns)).join('');
      wrote(part.length);
    }
}

/** Names without a value are left out of JSON, as the listing does. */
function lineOf(shown: Readonly<Record<string, unknown>>, format: ExportFormat, columns: readonly string[]): string {
  if (format === 'csv') return csvLine(columns.map((name) => cellOf(shown[name])));
  return `${JSON.stringify(Object.fromEntries(columns.map((name) => [name, shown[name]])))}\n`;
}

function cellOf(value: unknown): Cell {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? JSON.stringify(value) : figure(JSON.stringify(value));
}
