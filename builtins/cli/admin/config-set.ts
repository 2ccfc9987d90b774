import type { RunCommand } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client } from '../client.ts';
import { changeLines, changesOf, readDocument } from '../config-file.ts';
import { printDone } from '../show.ts';

/** `gw admin config set --file <path>`: shows what changes, asks where there is a person to ask, and replaces the configuration. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const document = await readDocument(input, place);
  const client = new Client(input, place);
  const changes = await changesOf(client, document);
  if (changes && input.format === 'table') io.out(`${changeLines(changes)}\n`);
  if (io.ask && io.terminal && input.options['yes'] !== true) {
    const answer = await io.ask('Replace the configuration? [y/N] ');
    if (!/^\s*y(es)?\s*$/i.test(answer ?? '')) {
      io.err('Nothing was changed.\n');
      return 1;
    }
  }
  await client.ok('PUT', '/admin/config', document);
  await printDone(io, input.format, 'Configuration updated.', { status: 'updated', ...(changes && { changes }) });
  return 0;
};
