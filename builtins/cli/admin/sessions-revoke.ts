import type { RunCommand } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client, segment } from '../client.ts';
import { printDone } from '../show.ts';

/** `gw admin sessions revoke <id>` */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const {
    args: [id = ''],
    format,
  } = input;
  await new Client(input, place).ok('DELETE', `/admin/sessions/${segment(id)}`);
  return printDone(io, format, 'Session revoked.', { status: 'revoked', id });
};
