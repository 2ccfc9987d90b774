import type { RunCommand } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client } from '../client.ts';
import { column, printRows, timeColumn } from '../show.ts';

/** `gw admin logs denied`: of the process that answers, the newest first. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const rows = await new Client(input, place).rows('/admin/logs/denied?limit=200');
  return printRows(io, input.format, rows, [
    column('ADDRESS', 'address'),
    column('MISSING', 'missing'),
    column('INVALID', 'invalid'),
    column('PATH', 'path'),
    column('USER_AGENT', 'user_agent'),
    timeColumn('LAST_AT', 'last_at', io, place.clock.now()),
  ]);
};
