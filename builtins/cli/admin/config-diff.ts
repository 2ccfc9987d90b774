import { type RunCommand, UsageError } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client } from '../client.ts';
import { changeLines, changesOf, readDocument } from '../config-file.ts';
import { printData } from '../show.ts';

/** `gw admin config diff --file <path>`: what the file would change. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const document = await readDocument(input, place);
  const client = new Client(input, place);
  const changes = await changesOf(client, document);
  if (!changes) throw new UsageError(`the gateway at ${client.url} cannot compare configurations`);
  return printData(io, input.format, changes, () => changeLines(changes));
};
