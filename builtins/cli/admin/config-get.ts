import type { RunCommand } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client } from '../client.ts';
import { printData } from '../show.ts';

/** `gw admin config get`: as the gateway shows it, without secrets. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  return printData(io, input.format, await new Client(input, place).object('GET', '/admin/config'));
};
