import type { RunCommand } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client, segment } from '../client.ts';
import { printDone, textOf } from '../show.ts';

/** `gw admin config rollback <version>` */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const {
    args: [version = ''],
    format,
  } = input;
  await new Client(input, place).ok('POST', `/admin/config/rollback/${segment(version)}`);
  return printDone(io, format, `Rolled back to version ${textOf(version)}.`, { status: 'rolled_back', version });
};
