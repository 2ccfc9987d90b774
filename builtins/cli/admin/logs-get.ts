import type { RunCommand } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client, segment } from '../client.ts';
import { printData } from '../show.ts';

/** `gw admin logs get <trace-id>`: one request, with how it was routed. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const {
    args: [id = ''],
    format,
  } = input;
  return printData(io, format, await new Client(input, place).object('GET', `/admin/logs/${segment(id)}`));
};
