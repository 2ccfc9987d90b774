import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { RunCommand } from '../../../host/cli/command.ts';
import { errorMessage } from '../../../host/common/error-message.ts';
import { isFields, parseJson } from '../../../host/contract/index.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { type Column, column, printRows } from '../show.ts';
import { priceChanges } from './price-changes.ts';

const text = (value: unknown): string =>
  value === null ? '-' : typeof value === 'string' ? value : JSON.stringify(value);

const COLUMNS: readonly Column[] = [
  column('MODEL', 'model'),
  column('LINE', 'line'),
  column('PRICE', 'price'),
  { title: 'OLD', cell: ({ old }) => text(old) },
  { title: 'NEW', cell: ({ new: now }) => text(now) },
];

/** `gw catalog diff <old> <new>`: changed prices of two catalogs. Nothing is fetched. */
export const run: RunCommand<CommandPlace> = async ({ args: [old = '', now = ''], format }, io) => {
  let catalogs: readonly [Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>];
  try {
    catalogs = [await readCatalog(old), await readCatalog(now)];
  } catch (error) {
    io.err(`Error: ${errorMessage(error)}\n`);
    return 1;
  }
  const changes = priceChanges(...catalogs);
  if (format === 'table' && changes.length === 0) io.out('No price differs.\n');
  else
    await printRows(
      io,
      format,
      changes.map((change) => ({ ...change })),
      COLUMNS,
    );
  return 0;
};

async function readCatalog(file: string): Promise<Readonly<Record<string, unknown>>> {
  const written = await readFile(file, 'utf8');
  const value: unknown = file.endsWith('.json') ? parseJson(written) : parse(written);
  if (!isFields(value)) throw new Error(`${file} is not an object of entries`);
  return value;
}
