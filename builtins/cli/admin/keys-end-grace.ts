import type { RunCommand } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client, segment } from '../client.ts';
import { printData } from '../show.ts';

/** `gw admin keys end-grace <id>`: the old value of a rotated key counts no longer. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const {
    args: [id = ''],
    format,
  } = input;
  return printData(io, format, await new Client(input, place).object('POST', `/admin/keys/${segment(id)}/end-grace`));
};
