import type { RunCommand } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client } from '../client.ts';
import { printData } from '../show.ts';
import { pathIn, routeOf } from './account-call.ts';

/** `gw admin accounts get <path>` */
export const run: RunCommand<CommandPlace> = async (input, io, place) =>
  printData(io, input.format, await new Client(input, place).object('GET', routeOf(pathIn(input))));
