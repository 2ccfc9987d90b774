import { type RunCommand, UsageError } from '../../../host/cli/command.ts';
import { patchBetween } from '../../../host/config/patch/patch-between.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client } from '../client.ts';
import { changeLines, changesOf, readDocument } from '../configuration/config-file.ts';
import { ConfigurationPatch, shownConfiguration } from '../configuration/config-patch.ts';
import { isConfirmed } from '../confirm.ts';
import { printDone, type Row } from '../show.ts';

/** A change that can be shown before it is made. */
interface Change {
  readonly changes: readonly Row[] | undefined;
  readonly make: () => Promise<unknown>;
}

/** `gw admin config set --file <path>`: shows what changes, asks where there is a person to ask, and replaces the configuration. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const document = await readDocument(input, place);
  const client = new Client(input, place);
  const { changes, make } = isMarked(document) ? await patched(client, document) : await replaced(client, document);
  if (changes && input.format === 'table') io.out(`${changeLines(changes)}\n`);
  if (!(await isConfirmed(io, input, 'Replace the configuration?'))) return 1;
  await make();
  await printDone(io, input.format, 'Configuration updated.', { status: 'updated', ...(changes && { changes }) });
  return 0;
};

/** What the gateway showed without its secrets holds marks in their places. */
const isMarked = (document: object): boolean => JSON.stringify(document).includes('[REDACTED');

async function replaced(client: Client, document: object): Promise<Change> {
  return { changes: await changesOf(client, document), make: () => client.ok('PUT', '/admin/config', document) };
}

/** What differs is sent, so that what is withheld stays where it was. */
async function patched(client: Client, document: object): Promise<Change> {
  const shown = await shownConfiguration(client);
  const { operations, problems } = patchBetween(shown.document, document);
  if (problems.length > 0)
    throw new UsageError(
      `${[...new Set(problems)].join(', ')}: it is withheld: leave it where it was, or write the value or \${VAR}`,
    );
  if (operations.length === 0) return { changes: [], make: async () => undefined };
  const patch = new ConfigurationPatch(
    client,
    operations.map((operation) => ({ ...operation })),
    shown.etag,
  );
  return { changes: await patch.changes(), make: () => patch.apply() };
}
