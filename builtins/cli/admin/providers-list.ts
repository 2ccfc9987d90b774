import type { RunCommand } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client } from '../client.ts';
import { column, printRows, type Row } from '../show.ts';

const COLUMNS = [
  column('PROVIDER', 'name'),
  { title: 'MODELS', cell: ({ models }: Row) => String(Array.isArray(models) ? models.length : 0) },
];

/** `gw admin providers list` */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  return printRows(io, input.format, await new Client(input, place).rows('/admin/providers'), COLUMNS);
};
