import { errorMessage } from '../common/error-message.ts';
import { cac } from 'cac';
import { closestMatch } from 'leven';
import { setMember } from '../contract/index.ts';

/** Where a command writes, and what it may know of its surroundings. */
export interface CommandIo {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Calls back once, when the process is asked to stop. */
  readonly onStop: (listener: () => void) => void;
}

export interface CommandInput {
  readonly args: readonly string[];
  /** By name in camel case; a flag is `true`, everything else text. */
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  readonly format: OutputFormat;
}

export type OutputFormat = 'table' | 'json' | 'yaml';

/** One command as data; `run` returns the exit code, 0 when it returns nothing, and 1 when it throws. */
export interface CommandDefinition {
  /** Words, for example `validate` or `admin keys list`. */
  readonly name: string;
  /** Required positional arguments; more are refused. */
  readonly args?: readonly string[];
  readonly summary: string;
  readonly options?: readonly CommandOption[];
  /** True when it prints no data, so that `--format` would be a mistake; the hint is added to the error. */
  readonly refusesFormat?: string | true;
  run(input: CommandInput, io: CommandIo): Promise<number | void>;
}

export interface CommandOption {
  /** `-o, --output <path>` */
  readonly flags: string;
  readonly summary: string;
}

/** The commands of this program. Builtins add theirs; `run` takes it from there. */
export interface CommandLine {
  readonly commands: readonly CommandDefinition[];
  add(command: CommandDefinition): void;
  /** Runs the command that the words name, `serve` when there are none. Resolves with the exit code. */
  run(argv: readonly string[], io: CommandIo): Promise<number>;
}

export const GLOBAL_OPTIONS: readonly CommandOption[] = [
  { flags: '--gateway-url <url>', summary: 'Address of a running gateway (GW_URL, else http://localhost:8080)' },
  { flags: '--api-key <key>', summary: 'Credential for it (GW_API_KEY, else MASTER_KEY)' },
  { flags: '--format <format>', summary: 'table, json or yaml' },
];

const DEFAULT_COMMAND = 'serve';

/** A mistake in how a command was called: printed in one line, without a stack. */
export class UsageError extends Error {}

/** `redact` passes what goes wrong: it may quote a file, an argument, an address. */
export function createCommandLine(redact: (text: string) => string): CommandLine {
  const commands: CommandDefinition[] = [];
  return {
    commands,
    add: (command) => { commands.push(command); },
    run: async (argv, io) => {
      try {
        return await dispatch(commands, argv, io);
      } catch (error) {
        io.err(redact(`Error: ${errorMessage(error)}\n`));
        return 1;
      }
    },
  };
}

async function dispatch(commands: readonly CommandDefinition[], argv: readonly string[], io: CommandIo): Promise<number> {
  const words = joinCommandWords(commands, argv);
  const parser = parserFor(commands);
  const { options } = parser.parse(['', '', ...words], { run: false });
  const asked = parser.matchedCommandName ?? (parser.args[0] === 'help' ? parser.args.slice(1).join(' ') : '');
  const definition = commands.find(({ name }) => name === asked);
  if (parser.args.length > 0 && parser.args[0] !== 'help' && !definition) throw unknownCommand(commands, parser.args);
  if (options['help'] || options['h'] || parser.args[0] === 'help') {
    if (asked !== '' && !definition) throw unknownCommand(commands, parser.args.slice(1));
    io.out(helpText(commands, definition));
    return 0;
  }
  if (!parser.matchedCommand || !definition) throw unknownCommand(commands, parser.args);
  parser.matchedCommand.checkUnknownOptions();
  parser.matchedCommand.checkOptionValue();
  parser.matchedCommand.checkRequiredArgs();
  parser.matchedCommand.checkUnusedArgs();
  const format = readFormat(definition, [options['format']].flat().at(-1));
  return (await definition.run({ args: parser.args.map(String), options: optionsAsWritten(definition, options, words), format }, io)) ?? 0;
}

/** The parser reads `007` as a number; options are text, and of a repeated one the last counts. */
function optionsAsWritten({ options = [] }: CommandDefinition, parsed: Readonly<Record<string, unknown>>, words: readonly string[]): CommandInput['options'] {
  const written: Record<string, string | boolean> = {};
  for (const [name, value] of Object.entries(parsed)) if (typeof value === 'boolean') setMember(written, name, value);
  for (const { flags } of [...options, ...GLOBAL_OPTIONS]) {
    const names = flags.replace(/ <.*/, '').split(', ');
    const at = words.findLastIndex((word) => names.some((name) => word === name || word.startsWith(`${name}=`)));
    const word = words[at];
    if (word === undefined || !flags.includes('<')) continue;
    const camel = (names.at(-1) ?? '').slice(2).replace(/-([a-z])/g, (_dash, letter: string) => letter.toUpperCase());
    setMember(written, camel, word.includes('=') ? word.slice(word.indexOf('=') + 1) : (words[at + 1] ?? ''));
  }
  return written;
}

function parserFor(commands: readonly CommandDefinition[]): ReturnType<typeof cac> {
  const parser = cac('gw');
  for (const { flags, summary } of GLOBAL_OPTIONS) parser.option(flags, summary);
  for (const { name, args = [], summary, options = [] } of commands) {
    const command = parser.command([name, ...args.map((arg) => `<${arg}>`)].join(' '), summary);
    for (const option of options) command.option(option.flags, option.summary);
  }
  return parser;
}

/** What `--help` prints: of one command, or of all. */
function helpText(commands: readonly CommandDefinition[], command: CommandDefinition | undefined): string {
  const usage = (definition: CommandDefinition): string => [definition.name, ...(definition.args ?? []).map((arg) => `<${arg}>`)].join(' ');
  const table = (rows: readonly (readonly [string, string])[]): string => {
    const width = Math.max(...rows.map(([left]) => left.length));
    return rows.map(([left, right]) => `  ${left.padEnd(width)}   ${right}`).join('\n');
  };
  const options = [...(command?.options ?? []), ...GLOBAL_OPTIONS, { flags: '-h, --help', summary: 'Print this' }];
  const optionTable = `Options:\n${table(options.map(({ flags, summary }) => [flags, summary]))}\n`;
  if (command) return `gw ${usage(command)}\n  ${command.summary}\n\n${optionTable}`;
  return `gw <command>\n\nCommands:\n${table(commands.map((each) => [usage(each), each.summary]))}\n\n${optionTable}`;
}

/** Makes one word of a command of several: `admin keys list` arrives as one argument, wherever options stand. */
function joinCommandWords(commands: readonly CommandDefinition[], argv: readonly string[]): string[] {
  const options: string[] = [];
  const words: string[] = [];
  const takesValue = new Set(GLOBAL_OPTIONS.map(({ flags }) => flags.split(' ')[0]));
  for (let at = 0; at < argv.length; at += 1) {
    const arg = argv[at] ?? '';
    if (words.length > 0 && !canGoOn(commands, [...words, arg].join(' '))) return [words.join(' '), ...options, ...argv.slice(at)];
    if (!arg.startsWith('-')) words.push(arg);
    else if (takesValue.has(arg)) options.push(arg, argv[++at] ?? '');
    else options.push(arg);
  }
  const asksHelp = options.includes('-h') || options.includes('--help');
  return words.length > 0 || asksHelp ? [words.join(' '), ...options].filter((word) => word !== '') : [DEFAULT_COMMAND, ...options];
}

function canGoOn(commands: readonly CommandDefinition[], words: string): boolean {
  return commands.some(({ name }) => name === words || name.startsWith(`${words} `));
}

function unknownCommand(commands: readonly CommandDefinition[], args: readonly string[]): UsageError {
  const token = args.join(' ').split(' ')[0] ?? '';
  const near = closestMatch(token, commands.map(({ name }) => name), { maxDistance: 4 });
  return new UsageError(`unknown command "${token}"${near === undefined ? '' : `, did you mean "${near}"?`}`);
}

function readFormat({ name, refusesFormat }: CommandDefinition, given: unknown): OutputFormat {
  const format = typeof given === 'string' ? given.toLowerCase() : 'table';
  if (format !== 'table' && refusesFormat) {
    throw new UsageError(`gw ${name} does not support --format ${format}${refusesFormat === true ? '' : `; ${refusesFormat}`}`);
  }
  return format === 'json' || format === 'yaml' ? format : 'table';
}
