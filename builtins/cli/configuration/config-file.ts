import { resolve } from 'node:path';
import { type CommandInput, UsageError } from '../../../host/cli/command.ts';
import { errorMessage } from '../../../host/common/error-message.ts';
import { formatOf } from '../../../host/config/load.ts';
import { decodeDocument } from '../../../host/config/decode.ts';
import { parseDocument, type ParsedDocument } from '../../../host/config/parse.ts';
import { readPlainFile } from '../../../host/config/plain-file.ts';
import { type Fields, isFields } from '../../../host/contract/json/fields.ts';
import type { CommandPlace } from '../../../host/host.ts';
import type { Client } from '../client.ts';
import { isRow, type Row, textOf } from '../show.ts';

/** The document of `--file`, read as its name says, without what belongs to the file alone. Throws what is wrong with it, before anything is sent. */
export async function readDocument({ options: { file } }: CommandInput, place: CommandPlace): Promise<object> {
  if (typeof file !== 'string' || file === '') throw new UsageError('name the configuration: --file <path>');
  const { document, value } = await read(file, place);
  const { identity: _identity, ...written } = meantBy(document, value) as Fields;
  return written;
}

function meantBy(document: ParsedDocument, value: object): object {
  return document.format === 'yaml' ? decodeDocument(document).document : value; // `1.10` and `yes` become the text and the flag that they are in a file
}

/** The document of a file, an object, read as its name says. */
export async function readDocumentOf(file: string, place: CommandPlace): Promise<object> {
  return (await read(file, place)).value;
}

interface ReadFile {
  readonly document: ParsedDocument;
  readonly value: object;
}

async function read(file: string, { workingDirectory }: CommandPlace): Promise<ReadFile> {
  const format = formatOf(file);
  if (!format) throw new UsageError(`the extension of "${file}" is not known; use .yaml, .yml or .json`);
  const text = await readPlainFile(resolve(workingDirectory, file)).catch((cause: unknown) => {
    throw new UsageError(`${file} cannot be read: ${errorMessage(cause)}`, { cause });
  });
  const {
    document,
    problems: [problem],
  } = parseDocument(text, format);
  if (problem || !document)
    throw new UsageError(
      `${file} cannot be read as ${format}: ${problem?.message ?? 'it is empty'}${problem?.line === undefined ? '' : ` (line ${problem.line})`}`,
    );
  if (!isFields(document.value)) throw new UsageError(`${file} is not a configuration: it holds no keys`);
  return { document, value: document.value };
}

/** What the document would change in the running configuration. Nothing is known of a gateway without that route. */
export async function changesOf(client: Client, document: object): Promise<readonly Row[] | undefined> {
  const path = '/admin/config/diff';
  const answer = await client.send('POST', path, document);
  if ([404, 405, 501].includes(answer.status)) return undefined;
  const { changes } = client.objectOf('POST', path, answer);
  return Array.isArray(changes) ? changes.filter(isRow) : undefined;
}

/** A line each, as in a patch: what goes, then what comes. */
export function changeLines(changes: readonly Row[]): string {
  if (changes.length === 0) return 'No changes.';
  return changes
    .flatMap(({ path, before, after }) => [textOf(path), ...sideOf('-', before), ...sideOf('+', after)])
    .join('\n');
}

const sideOf = (sign: string, value: unknown): string[] =>
  value === undefined || value === null
    ? []
    : [`  ${sign} ${textOf(typeof value === 'string' ? value : JSON.stringify(value))}`];
