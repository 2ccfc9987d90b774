import type { RunCommand } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client, segment } from '../client.ts';
import { printDone } from '../show.ts';

/** `gw admin keys revoke <id>`: any 2xx answer is success, with a body or without. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const {
    args: [id = ''],
    format,
  } = input;
  await new Client(input, place).ok('POST', `/admin/keys/${segment(id)}/revoke`);
  return printDone(io, format, 'Key revoked.', { status: 'revoked', id });
};
