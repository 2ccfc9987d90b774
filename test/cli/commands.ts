import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { COMMANDS } from '../../builtins/cli/commands.ts';
import { MODULES } from '../../builtins/manifest.ts';
import type { BuiltinModule } from '../../host/builtin.ts';
import { createCommandLine } from '../../host/cli/command-line.ts';
import type { CommandIo } from '../../host/cli/command.ts';
import { type Clock, systemClock } from '../../host/common/clock.ts';
import { createHost } from '../../host/create-host.ts';
import type { CommandPlace, Host } from '../../host/host.ts';
import { shippedRedactor } from '../kit/redactor.ts';
import type { GatewayModule } from '../../host/registry/registry.ts';
import {
  atEnd,
  BIN,
  NODE_ARGS,
  type ProcessOptions,
  program,
  type RunResult,
  temporaryFolder,
  TEST_BUILTINS,
} from '../kit/index.ts';

/** Root of the project, where the shipped modules and the example configuration lie. */
export const ROOT = dirname(dirname(BIN));

export interface CommandOptions {
  readonly variables?: Readonly<Record<string, string>>;
  /** Working directory; an empty one of its own unless said. */
  readonly cwd?: string;
  /** Further modules beside the shipped ones. */
  readonly modules?: readonly GatewayModule[];
  readonly builtins?: readonly BuiltinModule[];
  readonly clock?: Clock;
  /** A terminal, or a person to ask; none unless given. */
  readonly io?: Partial<CommandIo>;
}

export interface CommandResult extends RunResult {
  /** Log lines, parsed. */
  readonly lines: Record<string, any>[];
}

const SURROUNDINGS = {
  build: { version: 'dev', commit: 'none', built: 'unknown' },
  platform: { node: process.version, os: process.platform, arch: process.arch },
  clock: systemClock,
} as const;

/** A host as `main.ts` makes it, that writes its log into `lines`. */
export function commandHost(
  options: CommandOptions & { readonly cwd: string },
  lines: Record<string, any>[] = [],
): Host {
  return createHost({
    ...SURROUNDINGS,
    variables: options.variables ?? {},
    workingDirectory: options.cwd,
    installDirectory: ROOT,
    random: Math.random,
    lines: {
      write: (line) => {
        lines.push(JSON.parse(line) as Record<string, any>);
      },
    },
    modules: [...MODULES, ...(options.modules ?? [])],
    builtins: [...TEST_BUILTINS, ...(options.builtins ?? [])],
  });
}

/** Runs one command in this process, on a host of its own. A gateway that it starts is asked to stop after its banner. */
export async function runCommand(args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const { variables = {}, cwd = await temporaryFolder(), io = {} } = options;
  const lines: Record<string, any>[] = [];
  const redactor = shippedRedactor(variables);
  let host: Host | undefined;
  const place: CommandPlace = {
    ...SURROUNDINGS,
    ...(options.clock && { clock: options.clock }),
    variables,
    workingDirectory: cwd,
    redactor,
    host: async () => (host ??= commandHost({ ...options, cwd }, lines)),
  };
  let stdout = '';
  let stderr = '';
  let stop: (() => void) | undefined;
  const code = await createCommandLine(COMMANDS, (text) => redactor.redact(text)).run(
    args,
    {
      out: (text) => {
        stdout += text;
      },
      err: (text) => {
        stderr += text;
        if (text.includes('Master key:')) stop?.();
      },
      onStop: (listener) => {
        stop = listener;
      },
      ...io,
    },
    place,
  );
  await host?.close();
  return { code, stdout, stderr, lines };
}

/** Writes `text` to a file of its own and runs `gw validate` on it. */
export async function validateText(
  text: string,
  name = 'config.yaml',
  options: CommandOptions & { readonly args?: readonly string[] } = {},
): Promise<CommandResult> {
  const cwd = options.cwd ?? (await temporaryFolder());
  await writeFile(join(cwd, name), text);
  return runCommand(['validate', name, ...(options.args ?? [])], { ...options, cwd });
}

/** Validates a configuration written as JSON. */
export async function validateJson(
  config: unknown,
  options: CommandOptions & { readonly args?: readonly string[] } = {},
): Promise<CommandResult> {
  return validateText(JSON.stringify(config, null, 2), 'config.json', options);
}

export interface ReportedProblem {
  readonly path: string;
  readonly rule: string;
  readonly message: string;
  readonly fix: string;
  readonly line: number | undefined;
}

const PROBLEM =
  /^ {2}(?<path>.*?): (?<rule>[A-Z]{2}\d{2,3}[a-z]?): (?<message>.+); fix: (?<fix>.+?)(?: \(line (?<line>\d+)\))?$/;

/** The report of a refused configuration: its heading, and one problem per line. Throws on a line of another form. */
export function readReport(stderr: string): {
  readonly heading: string;
  readonly problems: readonly ReportedProblem[];
} {
  const [heading = '', ...rest] = stderr.trimEnd().split('\n');
  const problems = rest.map((text) => {
    const found = PROBLEM.exec(text)?.groups as Record<string, string | undefined> | undefined;
    if (!found) throw new Error(`not a problem line: ${text}`);
    const { path = '', rule = '', message = '', fix = '', line } = found;
    return { path, rule, message, fix, line: line === undefined ? undefined : Number(line) };
  });
  return { heading, problems };
}

/** Far longer than a start takes on a busy machine, and less than a test may. */
const EXIT_LIMIT_MS = 50_000;

/** Runs the real program until it exits by itself; a start that is not refused ends in a failure, not in a process left over. */
export async function runUntilExit(
  args: readonly string[],
  { variables = {}, cwd }: ProcessOptions & { readonly cwd: string },
): Promise<RunResult> {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [...NODE_ARGS, program(), ...args], {
    cwd,
    env: { PATH, HOME, PORT: '0', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: EXIT_LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  atEnd(() => {
    child.kill('SIGKILL');
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const code = await new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  return { code, stdout, stderr };
}
