#!/usr/bin/env node
// The bin, in plain JavaScript, so that any Node can read it: finds a runtime that is new enough, then starts main.ts.
import { existsSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { useCompileCache } from './compile-cache.js';

const NEEDED = 24;
/** When everything that a start needs has been compiled, and the start is over. */
const FLUSH_AFTER_MS = 10_000;
/** A command that is not a service, or a start that takes longer, goes on with everything V8 has. */
const LONGEST_START_MS = 2000;
/** What V8 leaves alone during a start. Not every platform has the compiler between its interpreter and its best one. */
const NOT_AT_START = [
  'incremental-marking',
  'turbofan',
  ...(process.config.variables.v8_enable_maglev ? ['maglev'] : []),
];
/**
 * What a start and its first request need of Node itself. V8 takes the compiled code that Node brings of it only under the flags that Node was built with,
 * so it is loaded before any is set. An import also reads each member once, and some of those load more: it is for what others import.
 */
const OF_NODE = [
  'assert',
  'child_process',
  'cluster',
  'dgram',
  'fs/promises',
  'http',
  'net',
  'perf_hooks',
  'process',
  'stream',
  'tty',
  'vm',
  'worker_threads',
];
/** Set for the bundled Node: signals are passed on to it. npm does so too. */
const PASSED_ON = 'GW_SIGNALS_PASSED_ON';
const here = dirname(fileURLToPath(import.meta.url));

// How many threads there are for what Node does not do in its own one: files, look-ups of names, statements of SQLite. Each file of SQLite may keep two
// of them for as long as a statement runs, and Node's own number, four, would then leave none for the rest. It is read when the first of them is needed.
process.env.UV_THREADPOOL_SIZE ||= '16';

// Without a listener, Node opens its debugger on this signal: a user who may send signals could run code in the process.
process.on('SIGUSR1', () => {});

if (Number(process.versions.node.split('.')[0]) >= NEEDED) {
  for (const name of OF_NODE) process.getBuiltinModule(name);
  await Promise.all([import('node:async_hooks'), import('node:buffer'), import('node:crypto'), import('node:util')]);
  // V8 moves objects of busy allocation sites straight to the old generation, and with them every request they hold;
  // nothing of a request lives that long. Measured: a fifth less CPU per request.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // V8 compiles in the background what has run a few times. Where that waits for a garbage collection while the process exits, Node waits for it, and
  // neither ever ends (Node 26.10, seen in 6 of 100 commands on a busy machine).
  setFlagsFromString('--no-concurrent-sparkplug');
  useFlagsOfStart(true);
  setTimeout(endStart, LONGEST_START_MS).unref();
  const isSource = existsSync(join(here, 'main.ts'));
  keepCompiled(isSource);
  const ownFiles = isSource ? (await import('./own-files.ts')).resolveOwnFiles() : undefined;
  const { StopSignal } = await import(isSource ? './stop-signal.ts' : './stop-signal.js');
  const { [PASSED_ON]: passedOn, npm_lifecycle_event: script } = process.env;
  delete process.env[PASSED_ON]; // it is not for what this process starts
  const { isatty } = process.getBuiltinModule('tty');
  const hasTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor));
  const { isWorker } = process.getBuiltinModule('cluster');
  const stop = new StopSignal({ isPassedOn: (passedOn ?? script) !== undefined, hasTerminal, isWorker }); // signals are listened for from here on, before the rest is loaded
  const { main } = await import(isSource ? './main.ts' : './main.js').catch(refuseUninstalled);
  await main(stop, { onLoaded: () => ownFiles?.deregister(), onStarted: endStart });
} else {
  const bundled = join(here, '..', 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (!existsSync(bundled)) {
    process.stderr.write(
      `Error: gw needs Node ${NEEDED} or later, this is ${process.versions.node}; install a newer one, or run "npm ci" in the project\n`,
    );
    process.exit(1);
  }
  const { spawn } = await import('node:child_process');
  const child = spawn(bundled, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, [PASSED_ON]: '1' },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'])
    process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    if (!signal) process.exit(code);
    process.exitCode = 1;
    process.removeAllListeners(signal);
    process.kill(process.pid, signal); // who started this process learns that a signal ended it: a shell then ends its loop too
  });
}

/** A clone before "npm ci": one line instead of Node's own trace. */
function refuseUninstalled(error) {
  const [, name] =
    (error.code === 'ERR_MODULE_NOT_FOUND' && /^Cannot find package '([^']+)'/.exec(error.message)) || [];
  if (name === undefined) throw error;
  process.stderr.write(
    `Error: the package "${name}", which gw needs, is not installed; run "npm ci" in ${dirname(here)}\n`,
  );
  process.exit(1);
}

/**
 * What a start makes stays, so a garbage collection in steps beside it finds nothing to free, and takes a twentieth of the start. What it runs, it runs
 * too few times for optimized code to pay: compiling that takes a tenth and more. V8 takes compiled code only under the flags it was written with: those of a start.
 */
function useFlagsOfStart(isWanted) {
  for (const name of NOT_AT_START) setFlagsFromString(isWanted ? `--no-${name}` : `--${name}`);
}

function endStart() {
  useFlagsOfStart(false);
}

/**
 * Keeps compiled code for the next start. V8 takes it only under the flags it was made with, so they are set before. A package keeps it
 * beside its code, where some may have come with it; a checkout among what is installed.
 */
function keepCompiled(isSource) {
  useCompileCache({
    ...(isSource
      ? { beside: join(here, '..', 'node_modules'), name: '.cache/gw' }
      : { beside: here, name: 'compile-cache' }),
    cacheHome: process.env.XDG_CACHE_HOME,
  });
  // A process that is killed writes nothing at its end.
  setTimeout(() => {
    useFlagsOfStart(true);
    module.flushCompileCache();
    useFlagsOfStart(false);
  }, FLUSH_AFTER_MS).unref();
  process.on('exit', () => useFlagsOfStart(true)); // what is written then, by Node itself, is for the next start
}
