import type { RunCommand } from '../../host/cli/command.ts';
import type { CommandPlace } from '../../host/host.ts';
import { Client } from './client.ts';
import { column, printData, printRows } from './show.ts';

const COLUMNS = [
  column('NAME', 'name'),
  column('TYPE', 'type'),
  { title: 'ENABLED', cell: ({ enabled }: Readonly<Record<string, unknown>>) => (enabled === true ? 'yes' : 'no') },
];

/** `gw plugins`: those of the running configuration. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const rows = (await new Client(input, place).rows('/admin/plugins')).map(({ name, type, enabled }) => ({
    name,
    type,
    enabled,
  }));
  if (rows.length === 0) return printData(io, input.format, rows, () => 'No plugins registered.');
  return printRows(io, input.format, rows, COLUMNS);
};
