import { resolve } from 'node:path';
import { type CommandInput, type RunCommand, UsageError } from '../../host/cli/command.ts';
import { useOneOf } from '../../host/common/nearest.ts';
import { decodeText } from '../../host/config/decode.ts';
import { formatOf } from '../../host/config/load.ts';
import type { Format } from '../../host/config/parse.ts';
import { problemLine } from '../../host/config/problems.ts';
import { checkConfig } from '../../host/generation/check.ts';
import type { CommandPlace, Host } from '../../host/host.ts';
import { readDocumentOf } from './configuration/config-file.ts';
import { IMPORT_FORMATS, importDocument, type Imported } from './import/formats.ts';
import { valueHere } from './import/here.ts';
import { keyLines } from './import/key-lines.ts';
import type { Compared } from './import/proof/compare.ts';
import { proveImport } from './import/proof/proof.ts';
import { elsewhereLines, importReport } from './import/report.ts';
import { exportLine } from './import/variables.ts';
import { writeNew } from './new-file.ts';
import { textOf } from './show.ts';

/** `gw import <kind> <file>`: the configuration of another gateway as one of this; what could not be carried over stands in the report. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const {
    args: [kind = '', file = ''],
    options: { output, acceptElsewhere: accepts, full },
  } = input;
  const source = IMPORT_FORMATS.get(kind);
  if (!source)
    throw new UsageError(
      `"${kind}" is not a configuration that can be imported; ${useOneOf(kind, [...IMPORT_FORMATS.keys()])}`,
    );
  const format = formatFor(input);
  const document = await readDocumentOf(file, place);
  const host = await place.host();
  const lookUp = valueHere(place.variables);
  const imported = importDocument(kind, document, { providers: host.registry.providers, lookUp });
  if (!hasTargets(imported))
    throw new UsageError(`nothing can be imported: ${file} names no provider that gw has; is it a ${source.title}?`);
  const text = await textFor(imported, format, `${textOf(file)}, a ${source.title}`);
  refuseInvalid(host, text, format);
  const proof = await proveImport(host, { kind, source: document, lookUp, ...imported });
  if (proof.elsewhere.length > 0 && accepts !== true) throw new UsageError(host.redactor.redact(elsewhereError(proof)));
  const written = typeof output === 'string' ? output : undefined;
  if (written === undefined) io.out(text);
  else if (!(await writeNew(resolve(place.workingDirectory, written), text)))
    throw new UsageError(`${written} exists, and is left as it is; name another file with -o`);
  const from = { kind, file, title: source.title, output: written, isFull: full === true, proof };
  io.err(host.redactor.redact(importReport(imported, { ...from, keys: keyLines(kind, document) })));
};

/** Names that would go to another place: nothing is written before that is accepted. */
const elsewhereError = ({ elsewhere }: Compared): string =>
  [
    `nothing is written: ${elsewhere.length} of the names would go to another place; with --accept-elsewhere they may`,
    ...elsewhereLines(elsewhere).map((line) => `  ${line}`),
  ].join('\n');

/** By the name of the file to write, else as it is asked for: YAML unless JSON is. */
function formatFor({ options: { output }, format }: CommandInput): Format {
  if (typeof output !== 'string') return format === 'json' ? 'json' : 'yaml';
  const named = formatOf(output);
  if (!named) throw new UsageError(`the gateway does not load "${output}": its name must end in .yaml, .yml or .json`);
  if (format !== 'table' && format !== named)
    throw new UsageError(
      `"${output}" would be read as ${named}, and --format asks for ${format}: change one of the two`,
    );
  return named;
}

const hasTargets = ({ document: { targets } }: Imported): boolean => Array.isArray(targets) && targets.length > 0;

async function textFor({ document, variables }: Imported, format: Format, from: string): Promise<string> {
  if (format === 'json') return `${JSON.stringify(document, undefined, 2)}\n`;
  const { yamlText } = await import('./yaml-text.ts');
  const needed = variables.every(({ state }) => state === 'place')
    ? []
    : [
        '',
        'gw reads credentials and addresses from its environment. Before it starts:',
        '',
        ...variables.filter(({ state }) => state !== 'place').map((variable) => `  ${exportLine(variable)}`),
      ];
  const toWrite = variables.filter(({ state }) => state === 'place');
  const places =
    toWrite.length === 0
      ? []
      : ['', 'To be written by hand:', '', ...toWrite.map(({ name, from }) => `  ${name} (it stands at ${from})`)];
  return `${[`Imported from ${from}.`, ...needed, ...places].map((line) => `# ${line}`.trimEnd()).join('\n')}\n\n${yamlText(document)}`;
}

/** What is written is what `gw validate` takes. */
function refuseInvalid(host: Host, text: string, format: Format): void {
  host.registry.seal();
  const [problem] = checkConfig(host, decodeText(text, format));
  if (problem) throw new UsageError(`the result would not be valid, and is not written: ${problemLine(problem)}`);
}
