import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';
import { BUILTINS, MODULES } from '../builtins/manifest.ts';
import { systemClock } from './common/clock.ts';
import type { CommandIo } from './cli/command-line.ts';
import { createHost } from './create-host.ts';
import type { BuildInfo } from './host.ts';
import { destinationOf, LogOutput } from './log/output.ts';
import { ownProcess } from './cli/own-process.ts';
import { prettyLine } from './log/pretty-line.ts';
import { Printer } from './cli/printer.ts';
import { registerResolveHook } from './registry/resolve-hook.ts';
import type { StopSignal } from './stop-signal.ts';

/** Composition root: the only reader of the process's environment and arguments. */
const installDirectory = dirname(dirname(fileURLToPath(import.meta.url)));

/** The build stamps package.json; a checkout says `dev`. */
function buildInfo(): BuildInfo {
  const { gw } = JSON.parse(readFileSync(join(installDirectory, 'package.json'), 'utf8')) as { gw?: Partial<BuildInfo> };
  return { version: gw?.version ?? 'dev', commit: gw?.commit ?? 'none', built: gw?.built ?? 'unknown' };
}

/** Runs the command that the arguments name, to its end and that of the process. */
export async function main(stop: StopSignal): Promise<never> {
  const destination = destinationOf(1);
  const { stdout, exit } = ownProcess(process);
  const out = new Printer(stdout);
  const err = new Printer(() => process.stderr);
  let isService = false;
  const io: CommandIo = {
    out: (text) => out.print(text),
    err: (text) => err.print(text),
    onStop: (listener) => {
      isService = true;
      stop.onStop(listener);
    },
  };
  registerResolveHook();
  const lines = new LogOutput({ ...destination, clock: systemClock, onLost: (count, reason) => host.log.error('log lines were lost', { lines: count, reason }) });
  const isTerminal = isatty(destination.descriptor);
  const isColoured = !process.env['NO_COLOR'];
  const host = createHost({
    variables: process.env,
    workingDirectory: process.cwd(),
    installDirectory,
    build: buildInfo(),
    argv: process.argv,
    platform: { node: process.version, os: process.platform, arch: process.arch },
    clock: systemClock,
    random: Math.random,
    lines: isTerminal ? { write: (line) => lines.write(prettyLine(line, isColoured)) } : lines,
    modules: MODULES,
    builtins: BUILTINS,
  });
  process.on('exit', () => lines.finishNow());
  process.on('unhandledRejection', (error) => host.log.error('a promise was rejected and its error was not handled', { error, stack: stackOf(error) }));
  process.on('uncaughtException', (error: unknown) => {
    host.log.error('uncaught exception, the process ends', { error, stack: stackOf(error) });
    exit(1);
  });
  const running = host.commandLine.run(process.argv.slice(2), io);
  stop.settle(); // a service has asked by now to hear of signals
  const code = await running;
  await host.close();
  await Promise.all([lines.finish(), out.finish(isService)]);
  if (out.failure) err.print(`Error: the output could not be written: ${out.failure.message}\n`);
  await err.finish(isService);
  return exit(out.failure ? 1 : code);
}

const stackOf = (error: unknown): string | undefined => (error instanceof Error ? error.stack : undefined);
