/** Where a command writes, and what it may know of its surroundings. */
export interface CommandIo {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Calls back once, when the process is asked to stop. */
  readonly onStop: (listener: () => void) => void;
  /** Calls back whenever the process is asked, by SIGHUP without a terminal, to look at its files. */
  readonly onHangUp?: (listener: () => void) => void;
  /** Calls back whenever the process is asked, by SIGUSR2, to replace its workers; without a listener that signal ends a process. */
  readonly onRoll?: (listener: () => void) => void;
  /** Called once the command runs: what wants to hear of signals has said so by then. */
  readonly onBegun?: () => void;
  /** Called once a service is up. */
  readonly onStarted?: () => void;
  /** True once nothing that is printed on stdout arrives any more: its reader left, the disk is full. */
  readonly isOutputLost?: () => boolean;
  /** The terminal behind stdout, when it is one. */
  readonly terminal?: Terminal;
  /** Asks a person, and resolves with the line they write, `undefined` at the end of the input. Only where there is a person to ask. */
  readonly ask?: (question: string) => Promise<string | undefined>;
  /** All that is piped into the program; empty where nothing is. */
  readonly piped?: () => Promise<string>;
}

export interface Terminal {
  readonly columns: number;
  readonly isColoured: boolean;
}

export interface CommandInput {
  readonly args: readonly string[];
  /** By name in camel case; a flag is `true`, everything else text. */
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  /** Every option with a value, under the same names, in the order in which they were typed: some may stand there more than once. */
  readonly given: readonly (readonly [name: string, value: string])[];
  readonly format: OutputFormat;
}

export const FORMATS = ['table', 'json', 'yaml'] as const;
export type OutputFormat = (typeof FORMATS)[number];

/** What a command does; `P` is what it may use. It returns the exit code, 0 when it returns nothing, and 1 when it throws. */
export type RunCommand<P> = (input: CommandInput, io: CommandIo, place: P) => Promise<number | void>;

/** One command as data. */
export interface CommandDefinition<P> {
  /** Words, for example `validate` or `admin keys list`. */
  readonly name: string;
  /** Required positional arguments, then optional ones; more are refused. */
  readonly args?: readonly string[];
  readonly optionalArgs?: readonly string[];
  readonly summary: string;
  readonly options?: readonly CommandOption[];
  /** What to do instead of options that people look for and that it does not have, by their names. */
  readonly insteadOf?: Readonly<Record<string, string>>;
  /** Whole lines, as they are typed. */
  readonly examples?: readonly string[];
  /** True when it prints no data, so that `--format` would be a mistake; the hint is added to the error. */
  readonly refusesFormat?: string | true;
  /** Loads what it runs. */
  load(): Promise<{ readonly run: RunCommand<P> }>;
}

export interface CommandOption {
  /** `-o, --output <path>` */
  readonly flags: string;
  readonly summary: string;
  /** What holds without it, in words. */
  readonly default?: string;
}

export const GLOBAL_OPTIONS: readonly CommandOption[] = [
  {
    flags: '--gateway-url <url>',
    summary: 'Address of a running gateway',
    default: 'GW_URL, else http://localhost:8080',
  },
  { flags: '--api-key <key>', summary: 'Credential for it', default: 'GW_API_KEY, else MASTER_KEY' },
  { flags: '--format <format>', summary: 'table, json or yaml', default: 'table' },
];

/** A mistake in how a command was called: printed in one line, without a stack. */
export class UsageError extends Error {}

/** Whether these words are a command, or the beginning of one. */
export function isCommandGroup(commands: readonly CommandDefinition<never>[], words: string): boolean {
  return commands.some(({ name }) => name === words || name.startsWith(`${words} `));
}

/** How a command is called, as help and documentation show it. */
export function usageOf({ name, args = [], optionalArgs = [] }: CommandDefinition<never>): string {
  return [name, ...args.map((arg) => `<${arg}>`), ...optionalArgs.map((arg) => `[${arg}]`)].join(' ');
}
