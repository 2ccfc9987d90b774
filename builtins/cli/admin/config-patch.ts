import { resolve } from 'node:path';
import { type CommandInput, type RunCommand, UsageError } from '../../../host/cli/command.ts';
import { errorMessage } from '../../../host/common/error-message.ts';
import { readPlainFile } from '../../../host/config/plain-file.ts';
import { isFields } from '../../../host/contract/json/fields.ts';
import { parseJson } from '../../../host/contract/json/json.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client } from '../client.ts';
import { changeLines } from '../configuration/config-file.ts';
import {
  ConfigurationPatch,
  type Operation,
  operationsOf,
  type PlaceFlag,
  shownConfiguration,
} from '../configuration/config-patch.ts';
import { isConfirmed } from '../confirm.ts';
import { printDone } from '../show.ts';

/** `gw admin config patch`: changes parts of the configuration, after showing what changes; what is withheld stays. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const read = await readOperations(input, place);
  const client = new Client(input, place);
  const { document, etag } = await shownConfiguration(client);
  const operations = read ?? operationsOf(document, asked(input));
  const patch = new ConfigurationPatch(client, operations, etag);
  const changes = await patch.changes();
  if (input.format === 'table') io.out(`${changeLines(changes)}\n`);
  if (changes.length > 0 && !(await isConfirmed(io, input, 'Change the configuration?'))) return 1;
  const { version } = await patch.apply();
  const text = changes.length === 0 ? 'Nothing to change.' : 'Configuration updated.';
  await printDone(io, input.format, text, { status: 'updated', version, changes });
  return 0;
};

const FLAGS: readonly PlaceFlag[] = ['set', 'unset', 'add'];

/** In the order in which they were typed. */
function asked({ given }: CommandInput): readonly (readonly [PlaceFlag, string])[] {
  const operations = given.flatMap(([name, text]) => {
    const flag = FLAGS.find((one) => one === name);
    return flag ? [[flag, text] as const] : [];
  });
  if (operations.length === 0) throw new UsageError('nothing to change: use --set, --unset, --add or --file');
  return operations;
}

/** The JSON Patch of `--file`; `undefined` without one. */
async function readOperations(
  { options: { file }, given }: CommandInput,
  { workingDirectory }: CommandPlace,
): Promise<readonly Operation[] | undefined> {
  if (typeof file !== 'string') return undefined;
  if (given.some(([name]) => FLAGS.some((flag) => flag === name)))
    throw new UsageError('--file holds the whole patch: leave out --set, --unset and --add');
  const text = await readPlainFile(resolve(workingDirectory, file)).catch((cause: unknown) => {
    throw new UsageError(`${file} cannot be read: ${errorMessage(cause)}`, { cause });
  });
  const value = jsonOf(text, file);
  if (!Array.isArray(value) || !value.every(isFields))
    throw new UsageError(`${file} is not a JSON Patch: a list of operations`);
  return value;
}

function jsonOf(text: string, file: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    throw new UsageError(`${file} is not JSON: ${errorMessage(cause)}`, { cause });
  }
}
