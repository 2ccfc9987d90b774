import type { RunCommand } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client } from '../client.ts';
import { printDone } from '../show.ts';
import { pathIn, routeOf } from './account-call.ts';

/** `gw admin accounts delete <path>` */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const path = pathIn(input);
  await new Client(input, place).ok('DELETE', routeOf(path));
  return printDone(io, input.format, 'Account deleted.', { status: 'deleted', path });
};
