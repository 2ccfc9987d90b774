import { type CommandDefinition, type CommandOption, usageOf } from './command.ts';

/** What `--help` prints: of one command, or of all that begin with these words. */
export function helpText(
  commands: readonly CommandDefinition<never>[],
  asked: CommandDefinition<never> | string,
  globalOptions: readonly CommandOption[],
): string {
  const options = [...(typeof asked === 'string' ? [] : (asked.options ?? [])), ...globalOptions];
  const optionTable = `Options:\n${columns(options.map(({ flags, summary, default: otherwise }) => [flags, otherwise === undefined ? summary : `${summary} (${otherwise})`]))}\n`;
  if (typeof asked === 'string')
    return `gw ${asked === '' ? '' : `${asked} `}<command>\n\nCommands:\n${commandTable(commands, asked)}\n\n${optionTable}`;
  const examples = (asked.examples ?? []).map((line) => `  ${line}\n`).join('');
  return `gw ${usageOf(asked)}\n  ${asked.summary}\n\n${optionTable}${examples === '' ? '' : `\nExamples:\n${examples}`}`;
}

function commandTable(commands: readonly CommandDefinition<never>[], group: string): string {
  const below = group === '' ? commands : commands.filter(({ name }) => name.startsWith(`${group} `));
  return columns(below.map((command) => [usageOf(command), command.summary]));
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = rows.reduce((most, [left]) => Math.max(most, left.length), 0);
  return rows.map(([left, right]) => `  ${left.padEnd(width)}   ${right}`).join('\n');
}
