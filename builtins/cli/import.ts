import { resolve } from 'node:path';
import { type CommandInput, type RunCommand, UsageError } from '../../host/cli/command.ts';
import { useOneOf } from '../../host/common/nearest.ts';
import { decodeText } from '../../host/config/decode.ts';
import { formatOf } from '../../host/config/load.ts';
import type { Format } from '../../host/config/parse.ts';
import { problemLine } from '../../host/config/problems.ts';
import { checkConfig } from '../../host/generation/check.ts';
import type { CommandPlace, Host } from '../../host/host.ts';
import { readDocumentOf } from './config-file.ts';
import { exportLine } from './import/environment.ts';
import { IMPORT_FORMATS, importDocument, type Imported } from './import/formats.ts';
import { importReport } from './import/report.ts';
import { writeNew } from './new-file.ts';
import { textOf } from './show.ts';

/** `gw import <kind> <file>`: the configuration of another gateway as one of this; what could not be carried over stands in the report. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const {
    args: [kind = '', file = ''],
    options: { output },
  } = input;
  const source = IMPORT_FORMATS.get(kind);
  if (!source)
    throw new UsageError(
      `"${kind}" is not a configuration that can be imported; ${useOneOf(kind, [...IMPORT_FORMATS.keys()])}`,
    );
  const format = formatFor(input);
  const document = await readDocumentOf(file, place);
  const host = await place.host();
  const imported = importDocument(kind, document, host.registry.providers);
  if (!hasTargets(imported))
    throw new UsageError(`nothing can be imported: ${file} names no provider that gw has; is it a ${source.title}?`);
  const text = await textFor(imported, format, `${textOf(file)}, a ${source.title}`);
  refuseInvalid(host, text, format);
  const written = typeof output === 'string' ? output : undefined;
  if (written === undefined) io.out(text);
  else if (!(await writeNew(resolve(place.workingDirectory, written), text)))
    throw new UsageError(`${written} exists, and is left as it is; name another file with -o`);
  io.err(host.redactor.redact(importReport(imported, { file, title: source.title, output: written })));
};

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
  const needed =
    variables.length === 0
      ? []
      : [
          '',
          'gw reads credentials and addresses from its environment. Before it starts:',
          '',
          ...variables.map((variable) => `  ${exportLine(variable)}`),
        ];
  return `${[`Imported from ${from}.`, ...needed].map((line) => `# ${line}`.trimEnd()).join('\n')}\n\n${yamlText(document)}`;
}

/** What is written is what `gw validate` takes. */
function refuseInvalid(host: Host, text: string, format: Format): void {
  host.registry.seal();
  const [problem] = checkConfig(host, decodeText(text, format));
  if (problem) throw new UsageError(`the result would not be valid, and is not written: ${problemLine(problem)}`);
}
