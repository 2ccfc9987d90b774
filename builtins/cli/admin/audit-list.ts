import type { RunCommand } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { readLimit } from './logs-list.ts';
import { Client } from '../client.ts';
import { column, printRows, timeColumn } from '../show.ts';

/** `gw admin audit list`: newest first. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const limit = readLimit(input.options);
  const rows = await new Client(input, place).rows(`/admin/audit?limit=${limit}`);
  return printRows(io, input.format, rows, [
    timeColumn('OCCURRED_AT', 'occurred_at', io, place.clock.now()),
    column('ACTION', 'action'),
    column('ACTOR', 'actor'),
    column('TARGET_ID', 'target_id'),
    column('OUTCOME', 'outcome'),
  ]);
};
