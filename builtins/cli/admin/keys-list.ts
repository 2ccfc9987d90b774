import type { RunCommand } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client } from '../client.ts';
import { column, printRows, type Row, timeColumn } from '../show.ts';

const isRevoked = ({ revoked_at: revokedAt, active }: Row): boolean =>
  (revokedAt !== undefined && revokedAt !== null && revokedAt !== '') || active === false;

/** `gw admin keys list` */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const rows = await new Client(input, place).rows('/admin/keys');
  const columns = [
    column('ID', 'id'),
    column('NAME', 'name'),
    column('SCOPES', 'scopes'),
    timeColumn('EXPIRES', 'expires_at', io, place.clock.now()),
    { title: 'REVOKED', cell: (row: Row) => (isRevoked(row) ? 'yes' : 'no') },
    { title: 'ACCESS', cell: ({ access }: Row) => (access === 'inference' ? 'inference' : 'full') },
    ...(io.terminal && rows.every(({ account }) => !account) ? [] : [column('ACCOUNT', 'account')]),
  ];
  return printRows(io, input.format, rows, columns);
};
