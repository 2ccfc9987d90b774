import type { RunCommand } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client } from '../client.ts';
import { credentialsReady, isDeclared } from '../fleet/credentials-ready.ts';
import { column, printRows, type Row } from '../show.ts';

const COLUMNS = [
  column('PROVIDER', 'name'),
  { title: 'MODELS', cell: ({ models }: Row) => String(Array.isArray(models) ? models.length : 0) },
];

/** What only entries of `providers` have. */
const DECLARED = [
  { title: 'KIND', cell: (row: Row) => (isDeclared(row) ? String(row['kind']) : '-') },
  { title: 'CREDENTIALS', cell: (row: Row) => credentialsReady(row) ?? '-' },
];

/** `gw admin providers list` */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const rows = await new Client(input, place).rows('/admin/providers');
  return printRows(io, input.format, rows, rows.some(isDeclared) ? [...COLUMNS, ...DECLARED] : COLUMNS);
};
