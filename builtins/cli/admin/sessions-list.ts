import type { RunCommand } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client } from '../client.ts';
import { column, printRows, timeColumn } from '../show.ts';

/** `gw admin sessions list`: newest first. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const rows = await new Client(input, place).rows('/admin/sessions');
  const now = place.clock.now();
  return printRows(io, input.format, rows, [
    column('ID', 'id'),
    column('SUBJECT', 'subject'),
    column('SCOPES', 'scopes'),
    timeColumn('CREATED_AT', 'created_at', io, now),
    timeColumn('LAST_SEEN_AT', 'last_seen_at', io, now),
    timeColumn('EXPIRES_AT', 'expires_at', io, now),
  ]);
};
