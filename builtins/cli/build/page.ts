import { readFileSync, writeFileSync } from 'node:fs';
import { type CommandDefinition, type CommandOption, GLOBAL_OPTIONS, usageOf } from '../../../host/cli/command.ts';
import { COMMANDS } from '../commands.ts';

type Command = CommandDefinition<never>;

const PAGE = new URL('../../../docs/cli.md', import.meta.url);

/**
 * The page about the command line with what the commands say of themselves: headings, first sentences, flags, examples. What
 * stands below that in a section, and all beside the sections of commands and flags, is kept: it is written by hand.
 */
export function cliPage(page: string, commands: readonly Command[] = COMMANDS): string {
  const [head = '', tail = ''] = page.split(/^## Commands\n/m);
  const end = tail.search(/^## /m);
  const after = end < 0 ? '' : tail.slice(end);
  const kept = proseByUsage(end < 0 ? tail : tail.slice(0, end));
  const sections = [...commands]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((command) => section(command, kept.get(usageOf(command)) ?? ''));
  const globals = head.replace(
    /(^## Global flags\n[^|]*)(?:\|[^\n]*\n)+/m,
    (_whole, before: string) => `${before}${flagTable(GLOBAL_OPTIONS)}\n`,
  );
  return `${globals}## Commands\n\n${sections.join('\n')}\n${after}`;
}

function section(command: Command, prose: string): string {
  const { summary, options = [], examples = [], refusesFormat } = command;
  return [
    `### \`gw ${usageOf(command)}\``,
    `${summary}.${refusesFormat === undefined ? '' : ' `--format` is refused.'}`,
    ...(options.length > 0 ? [flagTable(options)] : []),
    ...(examples.length > 0 ? [`\`\`\`sh\n${examples.join('\n')}\n\`\`\``] : []),
    ...(prose === '' ? [] : [prose]),
  ]
    .join('\n\n')
    .concat('\n');
}

function flagTable(options: readonly CommandOption[]): string {
  const rows = options.map(
    ({ flags, summary, default: otherwise = '' }) => `| \`${flags}\` | ${cell(otherwise)} | ${cell(summary)} |`,
  );
  return ['| Flag | Default | Meaning |', '|---|---|---|', ...rows].join('\n');
}

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** What is written by hand in each section: below the first sentence, the flags and the examples. */
function proseByUsage(text: string): Map<string, string> {
  const sections = text.split(/^### `gw ([^`]+)`\n/m).slice(1);
  const usages = sections.filter((_part, at) => at % 2 === 0);
  return new Map(
    usages.map((usage, at) => [
      usage,
      (sections[at * 2 + 1] ?? '')
        .trim()
        .replace(/^[^\n]+\n*(?:\|[^\n]*\n*)*(?:```sh\n[\s\S]*?\n```\n*)?/, '')
        .trim(),
    ]),
  );
}

if (import.meta.main) writeFileSync(PAGE, cliPage(readFileSync(PAGE, 'utf8')));
