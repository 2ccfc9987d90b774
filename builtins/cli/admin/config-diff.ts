import { type RunCommand, UsageError } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client } from '../client.ts';
import { changeLines, changesOf, readDocument } from '../configuration/config-file.ts';
import { printData } from '../show.ts';

/** `gw admin config diff --file <path>`: what the file would change. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const document = await readDocument(input, place);
  const client = new Client(input, place);
  const changes = await changesOf(client, document);
  if (!changes) throw new UsageError(`the gateway at ${client.url} cannot compare configurations`);
  return printData(io, input.format, changes, () => [changeLines(changes), ...homeNotes(changes)].join('\n'));
};

/** The first entry of an instance's credentials, or what it shares with others. */
const HOME = /^providers\b(.+)\.credentials\[0\](?:\.(?:name|vendor_account))?$/;

/** What a vendor keeps is looked for by the first credential: another one may not find it. */
function homeNotes(changes: Parameters<typeof changeLines>[0]): readonly string[] {
  const names = changes.flatMap(({ path, before }) => (before === null ? [] : (HOME.exec(String(path))?.[1] ?? [])));
  return [...new Set(names)].map(
    (name) =>
      `note: files, batches and stored responses of providers${name} are looked for with another credential, the one that is first now`,
  );
}
