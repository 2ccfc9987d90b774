import { availableParallelism, tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';
import { COMMANDS } from '../builtins/cli/commands.ts';
import { askOn } from './cli/ask.ts';
import type { CommandIo } from './cli/command.ts';
import { createCommandLine } from './cli/command-line.ts';
import { ownProcess } from './cli/own-process.ts';
import { isPiped } from './cli/piped.ts';
import { Printer } from './cli/printer.ts';
import { readWhole } from './cli/read-whole.ts';
import { systemClock } from './common/clock.ts';
import { errorMessage } from './common/error-message.ts';
import { youngCollection } from './common/young-collection.ts';
import { mayNameSecret } from './config/own-secrets.ts';
import type { KeyShape } from './contract/index.ts';
import { readBuildInfo } from './environment/build-info.ts';
import type { Variables } from './environment/variables.ts';
import type { CommandPlace, Host } from './host.ts';
import type { LineWriter } from './log/logger.ts';
import { destinationOf, LogOutput } from './log/output.ts';
import { prettyLine } from './log/pretty-line.ts';
import { createRedactor } from './log/redact.ts';
import type { StopSignal } from './stop-signal.ts';
import type { Team, WorkerTeam } from './workers/team.ts';

/** Composition root: the only reader of the process's environment and arguments. */
const installDirectory = dirname(dirname(fileURLToPath(import.meta.url)));

/** What a host takes from the process. */
interface Surroundings extends Omit<CommandPlace, 'host'> {
  readonly team: Team;
  readonly lines: LogOutput;
  readonly isTerminal: boolean;
  readonly isColoured: boolean;
  readonly onLoaded: () => void;
}

/** What the bin hears of. */
export interface Moments {
  /** Everything of this program is loaded, and nothing yet of modules of others. */
  readonly onLoaded: () => void;
  /** A service is up. */
  readonly onStarted: () => void;
}

/** Loads everything that this build ships: for commands that need it. */
async function makeHost({ lines, isTerminal, isColoured, onLoaded, ...place }: Surroundings): Promise<Host> {
  const [{ createHost }, { BUILTINS, MODULES }, { registerResolveHook }] = await Promise.all([
    import('./create-host.ts'),
    import('../builtins/manifest.ts'),
    import('./registry/resolve-hook.ts'),
  ]);
  onLoaded();
  registerResolveHook();
  return createHost({
    ...place,
    installDirectory,
    argv: process.argv,
    random: Math.random,
    collectYoung: youngCollection(),
    temporaryFolder: tmpdir(),
    lines:
      place.team?.role === 'worker' ? linesOfWorker(lines, place.team) : shownLines({ lines, isTerminal, isColoured }),
    modules: MODULES,
    builtins: BUILTINS,
  });
}

/** As people, or programs, read them. */
const shownLines = ({
  lines,
  isTerminal,
  isColoured,
}: Pick<Surroundings, 'lines' | 'isTerminal' | 'isColoured'>): LineWriter =>
  isTerminal ? { write: (line) => lines.write(prettyLine(line, isColoured)) } : lines;

/** Each line of a worker says which one it is; the primary copies it to where its own lines go. */
const linesOfWorker = (lines: LogOutput, { number }: WorkerTeam): LineWriter => ({
  write: (line) => lines.write(`${line.slice(0, line.lastIndexOf('}'))},"worker":${number}}\n`),
});

/** What keys of vendors look like, for the error of a command that needs nothing else of their modules. */
async function shippedKeyShapes(): Promise<readonly KeyShape[]> {
  const [{ MODULES }, { keyShapesOf }] = await Promise.all([
    import('../builtins/manifest.ts'),
    import('./registry/registry.ts'),
  ]);
  return keyShapesOf(MODULES);
}

/** Runs the command that the arguments name, to its end and that of the process. */
export async function main(stop: StopSignal, { onLoaded, onStarted }: Moments): Promise<never> {
  const environment = { ...process.env }; // what a module writes there changes nothing of the gateway
  const team = process.getBuiltinModule('node:cluster').isWorker
    ? await (await import('./workers/life/join-primary.ts')).joinPrimary()
    : undefined;
  const destination = destinationOf(1);
  const { stdout, exit } = ownProcess(process);
  const out = new Printer(stdout);
  const err = new Printer(() => process.stderr);
  const isColoured = !environment['NO_COLOR'] && environment['TERM'] !== 'dumb';
  let isService = false;
  let host: Host | undefined;
  let making: Promise<Host> | undefined;
  const io: CommandIo = {
    ...printing(out, err),
    onStop: (listener) => {
      isService = true;
      stop.onStop(listener);
    },
    onHangUp: (listener) => stop.onHangUp(listener),
    onBegun: () => stop.settle(), // a service has asked by now to hear of signals
    onStarted,
    onRoll: (listener) => void process.on('SIGUSR2', listener),
    ...(isatty(1) && {
      terminal: {
        columns: stdout().columns,
        isColoured:
          isColoured && (process.platform !== 'win32' || !!environment['WT_SESSION'] || !!environment['TERM']),
      },
    }),
  };
  const lines = new LogOutput({
    ...destination,
    clock: systemClock,
    onLost: (count, reason) => host?.log.error('log lines were lost', { lines: count, reason }),
  });
  const refuse = async (why: string): Promise<never> => {
    err.print(`Error: ${why}\n`);
    await err.finish(false);
    return exit(1);
  };
  const workingDirectory = workingDirectoryOf(process);
  if (workingDirectory === undefined)
    return refuse('the working directory does not exist any more; change to one that does');
  const variables =
    team?.given.variables ??
    (await withFiles(environment, workingDirectory).catch((error: unknown) => errorMessage(error)));
  if (typeof variables === 'string') return refuse(variables);
  const platform = { node: process.version, os: process.platform, arch: process.arch };
  const surroundings = {
    variables,
    workingDirectory,
    build: readBuildInfo(installDirectory),
    platform,
    clock: systemClock,
    team,
  };
  const redactor = createRedactor(variables);
  const shown = { lines, isTerminal: isatty(destination.descriptor), isColoured };
  const teamOf = async (serves: boolean): Promise<Team> => {
    if (!serves || team) return team;
    const { readWorkers, workersOn } = await import('./environment/worker-settings.ts');
    const size = workersOn({ os: platform.os, parallelism: availableParallelism() }, readWorkers(variables, []));
    if (size <= 1) return undefined;
    const { makePrimary } = await import('./workers/life/make-primary.ts');
    return makePrimary({
      size,
      clock: systemClock,
      program: process.argv[1] ?? '',
      args: process.argv.slice(2),
      lines: shownLines(shown),
      err: io.err,
    });
  };
  const makeOnce = async (serves: boolean): Promise<Host> =>
    (host = await makeHost({
      ...surroundings,
      team: await teamOf(serves),
      redactor,
      lines,
      isTerminal: isatty(destination.descriptor),
      isColoured,
      onLoaded,
    }));
  const place: CommandPlace = {
    ...surroundings,
    redactor,
    host: ({ serves = false } = {}) => (making ??= makeOnce(serves)),
  };
  const logFault = (message: string, error: unknown): void => {
    if (host) host.log.error(message, { error, stack: stackOf(error) });
    else io.err(redactor.redact(`Error: ${message}: ${errorMessage(error)}\n`));
  };
  process.on('exit', () => lines.finishNow());
  const isOfModule = (error: unknown): boolean => host?.logBackgroundFault(error) === true;
  watchFaults({ isOfModule, logFault, exit });
  const code = await createCommandLine(COMMANDS, async (text) => {
    if (!making) redactor.learn(await shippedKeyShapes());
    return redactor.redact(text);
  }).run(process.argv.slice(2), io, place);
  stop.settle();
  await host?.close();
  const isSaid = await finish({ lines, out, err, isService });
  return exit(isSaid ? code : 1);
}

/** The variables, with the secrets of files that some name. What reads them is loaded only then; `gw probe`, which runs every few seconds, needs none. */
async function withFiles(variables: Variables, workingDirectory: string): Promise<Variables> {
  const isNamed = Object.entries(variables).some(([name, value]) => mayNameSecret(name) && value?.trim());
  if (!isNamed || process.argv[2] === 'probe') return variables;
  const { secretVariables, withVariableFiles } = await import('./upstream/secrets/variable-files.ts');
  const providerSecrets = async (): Promise<ReadonlySet<string>> =>
    secretVariables((await import('../builtins/manifest.ts')).MODULES);
  return withVariableFiles(variables, { workingDirectory, providerSecrets });
}

interface Output {
  readonly lines: LogOutput;
  readonly out: Printer;
  readonly err: Printer;
  readonly isService: boolean;
}

/** Writes what still waits; false where something of it was lost that the operator has to know. */
async function finish({ lines, out, err, isService }: Output): Promise<boolean> {
  await Promise.all([lines.finish(), out.finish(isService)]);
  if (out.failure) err.print(`Error: the output could not be written: ${out.failure.message}\n`);
  await err.finish(isService);
  return !out.failure && (isService || !err.failure);
}

/** What a command prints to, and reads of an operator. */
function printing(out: Printer, err: Printer): Pick<CommandIo, 'out' | 'err' | 'isOutputLost' | 'ask' | 'piped'> {
  const isAnswered = isatty(0) && isatty(2);
  return {
    out: (text) => out.print(text),
    err: (text) => err.print(text),
    isOutputLost: () => out.isLost,
    ...(isAnswered && {
      ask: askOn(
        () => process.stdin,
        (text) => err.print(text),
      ),
    }),
    piped: async () => (isPiped(0) ? readWhole(process.stdin, 'the input', 16) : ''),
  };
}

interface FaultWatch {
  /** Whether a module of others threw it; then it is logged by now. */
  readonly isOfModule: (error: unknown) => boolean;
  readonly logFault: (message: string, error: unknown) => void;
  readonly exit: (code: number) => void;
}

function watchFaults({ isOfModule, logFault, exit }: FaultWatch): void {
  process.on('unhandledRejection', (error) => {
    if (!isOfModule(error)) logFault('a promise was rejected and its error was not handled', error);
  });
  process.on('uncaughtException', (error: unknown) => {
    if (isOfModule(error)) return;
    logFault('uncaught exception, the process ends', error);
    exit(1);
  });
}

/** Undefined for a folder that was deleted: it has no name, and every path would be looked for from nowhere. */
function workingDirectoryOf({ cwd }: Pick<NodeJS.Process, 'cwd'>): string | undefined {
  try {
    return cwd();
  } catch {
    return undefined;
  }
}

const stackOf = (error: unknown): string | undefined => (error instanceof Error ? error.stack : undefined);
