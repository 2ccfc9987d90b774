import type { RunCommand } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client } from '../client.ts';
import { column, printRows, timeColumn } from '../show.ts';

/** `gw admin config history` */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const rows = await new Client(input, place).rows('/admin/config/history');
  return printRows(io, input.format, rows, [
    column('VERSION', 'version'),
    timeColumn('UPDATED_AT', 'updated_at', io, place.clock.now()),
    column('ROLLED_BACK_FROM', 'rolled_back_from', ''),
  ]);
};
