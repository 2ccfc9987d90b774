import { cac } from 'cac';
import { errorMessage } from '../common/error-message.ts';
import { nearest } from '../common/nearest.ts';
import { setMember } from '../contract/json/members.ts';
import {
  type CommandDefinition,
  type CommandInput,
  type CommandIo,
  type CommandOption,
  FORMATS,
  GLOBAL_OPTIONS,
  isCommandGroup,
  type OutputFormat,
  UsageError,
} from './command.ts';
import { helpText } from './help-text.ts';
import { visibleText } from './visible-text.ts';

/** The commands of this program, over data: what a command runs is loaded when it runs. */
export interface CommandLine<P> {
  /** Runs the command that the words name, `serve` when there are none. Resolves with the exit code. */
  run(argv: readonly string[], io: CommandIo, place: P): Promise<number>;
}

const DEFAULT_COMMAND = 'serve';
const HELP_OPTION = { flags: '-h, --help', summary: 'Print this' };

/** `redact` passes what goes wrong: it may quote a file, an argument, an address. */
export function createCommandLine<P>(
  commands: readonly CommandDefinition<P>[],
  redact: (text: string) => string | Promise<string>,
): CommandLine<P> {
  return {
    run: async (argv, io, place) => {
      try {
        return await dispatch(commands, argv, io, place);
      } catch (error) {
        io.err(visibleText(await redact(`Error: ${errorMessage(error)}\n`)));
        return 1;
      }
    },
  };
}

async function dispatch<P>(
  commands: readonly CommandDefinition<P>[],
  argv: readonly string[],
  io: CommandIo,
  place: P,
): Promise<number> {
  const { words, rest, isHelp } = readWords(commands, argv);
  const name = words.join(' ');
  const asksHelp = isHelp || rest.some((arg) => arg === '-h' || arg === '--help');
  const definition = commands.find((command) => command.name === (name === '' && !asksHelp ? DEFAULT_COMMAND : name));
  if (asksHelp || !definition) {
    if (!definition) checkOptions({}, rest);
    io.out(helpText(commands, definition ?? name, [...GLOBAL_OPTIONS, HELP_OPTION]));
    return 0;
  }
  const input = readInput(definition, rest);
  const { run } = await definition.load();
  const running = run(input, io, place);
  io.onBegun?.();
  return (await running) ?? 0;
}

interface Words {
  /** A command, or the beginning of some: `admin keys`. */
  readonly words: readonly string[];
  /** Options that stood between the words, and everything after them. */
  readonly rest: readonly string[];
  readonly isHelp: boolean;
}

/** Finds the words of the command, wherever global options stand. Throws for a word that no command has in its place. */
function readWords(commands: readonly CommandDefinition<never>[], argv: readonly string[]): Words {
  const takesValue = new Set(GLOBAL_OPTIONS.map(({ flags }) => flags.split(' ')[0]));
  const words: string[] = [];
  const options: string[] = [];
  let isHelp = false;
  for (let at = 0; at < argv.length; at += 1) {
    const arg = argv[at] ?? '';
    const isLonger = !arg.startsWith('-') && isCommandGroup(commands, [...words, arg].join(' '));
    if (!isLonger && commands.some(({ name }) => name === words.join(' ')))
      return { words, rest: [...options, ...argv.slice(at)], isHelp };
    if (takesValue.has(arg) && at + 1 < argv.length) options.push(arg, argv[++at] ?? '');
    else if (arg.startsWith('-')) options.push(arg);
    else if (arg === 'help' && words.length === 0 && !isHelp) isHelp = true;
    else if (isCommandGroup(commands, [...words, arg].join(' '))) words.push(arg);
    else {
      if (words.length === 0) checkOptions(commands.find(({ name }) => name === DEFAULT_COMMAND) ?? {}, options); // `gw --port 80`
      throw unknownCommand(commands, words, arg);
    }
  }
  return { words, rest: options, isHelp };
}

/** Names the nearest command below the words that were understood. */
function unknownCommand(
  commands: readonly CommandDefinition<never>[],
  words: readonly string[],
  token: string,
): UsageError {
  const above = words.map((word) => `${word} `).join('');
  const group = words.length === 0 ? '' : ` of gw ${words.join(' ')}`;
  const below = new Set(
    commands
      .filter(({ name }) => name.startsWith(above))
      .map(({ name }) => name.slice(above.length).split(' ')[0] ?? ''),
  );
  const near = nearest(token, below);
  return new UsageError(
    `unknown command "${token}"${group}${near === undefined ? '' : `, did you mean "${above}${near}"?`}`,
  );
}

function readInput(definition: CommandDefinition<never>, typed: readonly string[]): CommandInput {
  const parser = cac('gw');
  const all = [...(definition.options ?? []), ...GLOBAL_OPTIONS, HELP_OPTION];
  const rest = withValues(typed, all);
  for (const { flags, summary } of all) parser.option(flags, summary);
  const { args, options } = parser.parse(['', '', ...rest], { run: false });
  const words = checkOptions(definition, rest);
  const named = [...args, ...[options['--'] ?? []].flat()].map(String);
  checkArgs(definition, named);
  const given = valuesAsWritten(all, words);
  const written = optionsAsWritten(options, given);
  return { args: named, options: written, given, format: readFormat(definition, written['format']) };
}

/**
 * Gives the parser each option in a form that it understands. Of `--flag=` it would take the next word, or find none: the empty value becomes a word of its
 * own. A value that begins with a dash it would take for an option: it is joined to its flag. Of a flag without a value it may take the next word for one:
 * those go last.
 */
function withValues(words: readonly string[], options: readonly CommandOption[]): string[] {
  const known = options.flatMap(({ flags }) => namesOf(flags));
  const names = new Set(options.filter(({ flags }) => flags.includes('<')).flatMap(({ flags }) => namesOf(flags)));
  const end = words.includes('--') ? words.indexOf('--') : words.length;
  const joined: string[] = [];
  const bare: string[] = [];
  for (let at = 0; at < end; at += 1) {
    const word = words[at] ?? '';
    const next = at + 1 < end ? words[at + 1] : undefined;
    if (word.endsWith('=') && names.has(word.slice(0, -1))) joined.push(word.slice(0, -1), '');
    else if (names.has(word) && next?.startsWith('-') && next !== '-')
      joined.push(`${word}=${dashedValue(word, words[++at] ?? '', known)}`);
    else if (names.has(word) && next === undefined) throw new UsageError(`${word} needs a value`);
    else if (names.has(word)) joined.push(word, words[++at] ?? '');
    else if (known.includes(word) && !names.has(word)) bare.push(word);
    else joined.push(word);
  }
  return [...joined, ...bare, ...words.slice(end)];
}

/** `-1` is the value of `--limit -1`. What is another option, or looks like one, is not: the value was forgotten. */
function dashedValue(flag: string, word: string, known: readonly string[]): string {
  if (!word.startsWith('--') && !known.includes(word.split('=')[0] ?? '')) return word;
  throw new UsageError(
    `${flag} needs a value, and "${word.split('=')[0]}" looks like an option; a value that begins with a dash is written as ${flag}=-x`,
  );
}

/** Refuses a flag that the command does not have, by its name alone: its value may be a key. Returns the words before `--`. */
function checkOptions(
  { options = [], args = [], optionalArgs = [], insteadOf = {} }: Partial<CommandDefinition<never>>,
  rest: readonly string[],
): readonly string[] {
  const end = rest.indexOf('--');
  const words = end < 0 ? rest : rest.slice(0, end);
  const all = [...options, ...GLOBAL_OPTIONS, HELP_OPTION];
  const known = all.flatMap(({ flags }) => namesOf(flags));
  const flagsAlone = new Set(all.filter(({ flags }) => !flags.includes('<')).flatMap(({ flags }) => namesOf(flags)));
  for (const word of words) {
    const [name = ''] = word.split('=');
    if (!name.startsWith('-') || name === '-') continue;
    if (flagsAlone.has(name) && word !== name) throw new UsageError(`${name} takes no value`);
    if (known.includes(name)) continue;
    const instead = insteadOf[name];
    if (instead !== undefined) throw new UsageError(`unknown option "${name}": ${instead}`);
    const near = nearest(
      name,
      known.filter((one) => one.startsWith('--')),
    );
    const isText = near === undefined && args.length + optionalArgs.length > 0;
    throw new UsageError(
      `unknown option "${name}"${near === undefined ? '' : `, did you mean "${near}"?`}${isText ? '; what begins with a dash and is not an option stands behind --' : ''}`,
    );
  }
  return words;
}

const namesOf = (flags: string): string[] => flags.replace(/ [<[].*/, '').split(', ');

function checkArgs({ name, args = [], optionalArgs = [] }: CommandDefinition<never>, given: readonly string[]): void {
  const missing = args[given.length];
  if (missing !== undefined) throw new UsageError(`gw ${name} needs <${missing}>; see gw ${name} --help`);
  const extra = given[args.length + optionalArgs.length];
  if (extra !== undefined) throw new UsageError(`gw ${name} takes no argument "${extra}"; see gw ${name} --help`);
  const empty = args.find((_arg, at) => given[at] === '');
  if (empty !== undefined) throw new UsageError(`<${empty}> of gw ${name} is empty`);
}

/** The parser reads `007` as a number; options are text, and of a repeated one the last counts. */
function optionsAsWritten(
  parsed: Readonly<Record<string, unknown>>,
  given: CommandInput['given'],
): CommandInput['options'] {
  const written: Record<string, string | boolean> = {};
  for (const [name, value] of Object.entries(parsed)) if (typeof value === 'boolean') setMember(written, name, value);
  for (const [name, value] of given) setMember(written, name, value);
  return written;
}

/** Options that take a value, by their long names in camel case. */
function valuesAsWritten(options: readonly CommandOption[], words: readonly string[]): CommandInput['given'] {
  const names = new Map(
    options
      .filter(({ flags }) => flags.includes('<'))
      .map(({ flags }) => namesOf(flags))
      .flatMap((all) => all.map((name) => [name, camelCase(all.at(-1) ?? '')] as const)),
  );
  const given: (readonly [name: string, value: string])[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const end = word.indexOf('=');
    const name = names.get(end < 0 ? word : word.slice(0, end));
    if (name !== undefined) given.push([name, end < 0 ? (words[++at] ?? '') : word.slice(end + 1)]);
  }
  return given;
}

const camelCase = (flag: string): string =>
  flag.slice(2).replace(/-([a-z])/g, (_dash, letter: string) => letter.toUpperCase());

function readFormat(
  { name, refusesFormat }: CommandDefinition<never>,
  given: string | boolean | undefined,
): OutputFormat {
  if (given === undefined) return 'table';
  const asked = String(given).toLowerCase();
  const format = FORMATS.find((one) => one === asked);
  if (format === undefined) {
    const near = nearest(asked, FORMATS);
    throw new UsageError(
      `unknown format "${String(given)}"${near === undefined ? '' : `, did you mean "${near}"?`}; use one of: ${FORMATS.join(', ')}${typeof refusesFormat === 'string' ? `; ${refusesFormat}, gw ${name} does not support --format ${asked}` : ''}`,
    );
  }
  if (format !== 'table' && refusesFormat) {
    throw new UsageError(
      `gw ${name} does not support --format ${format}${refusesFormat === true ? '' : `; ${refusesFormat}`}`,
    );
  }
  return format;
}
