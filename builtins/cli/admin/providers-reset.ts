import type { RunCommand } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client, segment } from '../client.ts';
import { printDone } from '../show.ts';

/** `gw admin providers reset <name> <credential>` */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const {
    args: [name = '', credential = ''],
    format,
  } = input;
  const path = `/admin/providers/${segment(name)}/credentials/${segment(credential)}/reset`;
  await new Client(input, place).ok('POST', path);
  return printDone(io, format, 'Credential reset.', { status: 'reset', id: `${name}/${credential}` });
};
