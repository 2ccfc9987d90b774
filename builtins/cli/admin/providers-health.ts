import type { RunCommand } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client } from '../client.ts';
import { printData } from '../show.ts';

/** `gw admin providers health`: the deep health of the gateway. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  return printData(io, input.format, await new Client(input, place).object('GET', '/admin/health'));
};
