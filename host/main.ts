import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { BUILTINS, MODULES } from '../builtins/manifest.ts';
import { systemClock } from './clock.ts';
import type { CommandIo } from './command-line.ts';
import { createHost } from './create-host.ts';
import type { BuildInfo } from './host.ts';
import { registerResolveHook } from './registry/resolve-hook.ts';

/** Composition root: the only reader of the process's environment and arguments. */
const installDirectory = dirname(dirname(fileURLToPath(import.meta.url)));
const FLUSH_MS = 50;

/** The build stamps package.json; a checkout says `dev`. */
function buildInfo(): BuildInfo {
  const { gw } = JSON.parse(readFileSync(join(installDirectory, 'package.json'), 'utf8')) as { gw?: Partial<BuildInfo> };
  return { version: gw?.version ?? 'dev', commit: gw?.commit ?? 'none', built: gw?.built ?? 'unknown' };
}

// Lines are collected and written together; what is left is flushed on exit. As bytes: of collected text the destination
// counts the bytes all over again for each line.
const output = pino.destination({ fd: 1, sync: false, minLength: 60_000, maxWrite: 65_536, periodicFlush: FLUSH_MS, contentMode: 'buffer' });
const lines = { write: (line: string) => output.write(Buffer.from(line) as unknown as string) }; // typed for text, and takes bytes in this mode

const io: CommandIo = {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  onStop: (listener) => {
    let isAsked = false;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      // Each listener goes with its first signal: a second one kills at once.
      process.once(signal, () => {
        process.removeAllListeners('SIGINT').removeAllListeners('SIGTERM');
        if (!isAsked) listener();
        isAsked = true;
      });
    }
  },
};

registerResolveHook();
const host = createHost({
  variables: process.env,
  workingDirectory: process.cwd(),
  installDirectory,
  build: buildInfo(),
  platform: { node: process.version, os: process.platform, arch: process.arch },
  clock: systemClock,
  random: Math.random,
  lines,
  modules: MODULES,
  builtins: BUILTINS,
});
process.on('exit', () => output.flushSync());
process.on('unhandledRejection', (error) => host.log.error('a promise was rejected and nobody listened', { error, stack: (error as Error | undefined)?.stack }));
process.on('uncaughtException', (error) => {
  host.log.error('uncaught exception, the process ends', { error, stack: error.stack });
  process.exit(1);
});
process.exitCode = await host.commandLine.run(process.argv.slice(2), io);
await host.close();
output.flushSync();
process.exit();
