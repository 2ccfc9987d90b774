import type { RunCommand } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client } from '../client.ts';
import { isRow, printData, type Row, textOf } from '../show.ts';

/** `gw admin config source`: where the configuration came from, and what the next start begins with. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const source = await new Client(input, place).object('GET', '/admin/config/source');
  return printData(io, input.format, source, () => linesOf(source).join('\n'));
};

const IN_FORCE: Readonly<Record<string, string>> = {
  store: 'written through the admin API',
  file: 'the configuration file',
  defaults: 'built-in defaults',
};

function linesOf(source: Row): readonly string[] {
  const { in_force: inForce, next_start: next, version, updated_at: at, actor, file } = source;
  const listed = (name: string, title: string): readonly string[] => {
    const value = source[name];
    return Array.isArray(value) && value.length > 0 ? [`${title}: ${textOf(value.map((each) => String(each)))}`] : [];
  };
  return [
    `In force: ${wordsOf(inForce)}`,
    `Next start: ${wordsOf(next)}`,
    `Version: ${textOf(version)}${actor === null ? '' : ` of ${textOf(at)}, by ${textOf(actor)}`}`,
    `File: ${isRow(file) ? `${textOf(file['path'])} (${stateOf(file)})` : 'none'}`,
    ...listed('pending_restart', 'Waits for a restart'),
    ...listed('withheld', 'Withheld'),
    ...warningsOf(source).map(
      ({ rule, path, message }) => `warning ${textOf(rule)} ${textOf(path)}: ${textOf(message)}`,
    ),
  ];
}

const wordsOf = (source: unknown): string => IN_FORCE[String(source)] ?? textOf(source);

function warningsOf({ warnings }: Row): readonly Row[] {
  return Array.isArray(warnings) ? warnings.filter(isRow) : [];
}

function stateOf({ readable, differs, watched }: Row): string {
  const state = readable === false ? 'it cannot be used' : differs === true ? 'it differs' : 'it says the same';
  return watched === true ? `${state}, watched` : state;
}
