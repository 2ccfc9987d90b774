import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { atEnd } from './cleanup.ts';
import { eventually, type Holdings, kept } from './holdings.ts';
import { MASTER_KEY } from './host.ts';
import { BIN, program } from './program.ts';

/** What Node imports before the bin: nothing that every object inherits can be written. */
export const NODE_ARGS: readonly string[] = ['--import', new URL('frozen.js', import.meta.url).href];
const PROBE = new URL('probe.js', import.meta.url).href;

export interface RunResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProcessOptions {
  /** Environment of the child; nothing of this process's own but PATH and HOME goes with it. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Descriptors that the child writes to; pipes that are read unless said. */
  readonly stdout?: number;
  readonly stderr?: number;
  /** Words before the command: a shell that sets a limit and becomes the command. */
  readonly through?: readonly string[];
  /** The checkout itself, also where there is a bundle of it: for tests of what it reads, and how. */
  readonly isCheckout?: boolean;
}

function start(
  nodeArgs: readonly string[],
  args: readonly string[],
  { variables = {}, cwd, stdout, stderr, through = [], isCheckout = false }: ProcessOptions,
): ChildProcess {
  const { PATH, HOME } = process.env;
  const node = [process.execPath, ...NODE_ARGS, ...nodeArgs];
  const [first = '', ...rest] = [...through, ...node, isCheckout ? BIN : program(), ...args];
  const stdio = [
    'ignore' as const,
    stdout ?? ('pipe' as const),
    stderr ?? ('pipe' as const),
    ...(nodeArgs.length > 0 ? ['ipc' as const] : []),
  ];
  return spawn(first, rest, { ...(cwd !== undefined && { cwd }), env: { PATH, HOME, ...variables }, stdio });
}

/** Runs a command of the bin to its end. */
export async function runGw(args: readonly string[], options: ProcessOptions = {}): Promise<RunResult> {
  const child = start([], args, options);
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const code = await new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  return { code, stdout, stderr };
}

export interface GatewayProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** The master key it takes. */
  readonly key: string;
  /** stdout so far, a parsed line each. */
  readonly lines: Record<string, any>[];
  readonly stderr: () => string;
  /** What the process holds beyond what it held when it began to serve; sockets of clients that are kept open are not counted. */
  held(): Promise<Holdings>;
  /** What it goes on holding: nothing as soon as it holds nothing once, else what it holds after some seconds. */
  leftover(): Promise<Holdings>;
  /** The longest turn of its event loop since it was last asked, in milliseconds of CPU; counted from the first question on. */
  longestTurn(): Promise<number>;
  /** Sends a signal; resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Every gateway that a test starts as a process has so many workers, where this is set. */
const { GW_TEST_WORKERS } = process.env;
const WORKERS: Readonly<Record<string, string>> = GW_TEST_WORKERS ? { GW_WORKERS: GW_TEST_WORKERS } : {};

const ADDRESS = /^ *Address: +https?:\/\/localhost:(\d+)$/m;

/** Starts the gateway as a real process on a free port and waits for its banner; killed after the test. */
export async function startGateway(options: ProcessOptions = {}): Promise<GatewayProcess> {
  const child = start(['--import', PROBE], ['serve'], {
    ...options,
    variables: { PORT: '0', MASTER_KEY, RATE_LIMIT_RPS: '0', ...WORKERS, ...options.variables },
  });
  const lines: Record<string, any>[] = [];
  let rest = '';
  let stderr = '';
  const exited = new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  const started = Promise.withResolvers<number>();
  const told = Promise.withResolvers<void>();
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const line = JSON.parse(part) as Record<string, any>;
      lines.push(line);
      if (line['msg'] === 'gw started') told.resolve();
    }
  });
  if (!child.stdout) told.resolve();
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    if (stderr.includes('Master key:')) started.resolve(Number(ADDRESS.exec(stderr)?.[1]));
  });
  void exited.then((code) =>
    started.reject(new Error(`the gateway exited with ${code} before it listened:\n${stderr}`)),
  );
  let first: Holdings = {};
  const hasWorkers = { ...WORKERS, ...options.variables }['GW_WORKERS'] !== undefined; // those keep connections to the primary open
  const held = async (): Promise<Holdings> =>
    kept(first, await holdingsOf(child), (kind) => kind !== 'TCPSocketWrap' && !(hasWorkers && kind === 'PipeWrap'));
  atEnd(async () => {
    try {
      const left = child.connected && child.exitCode === null ? await leftoverOf(held) : {};
      if (Object.keys(left).length > 0)
        throw new Error(`the gateway holds more than when it began to serve: ${JSON.stringify(left)}`);
    } finally {
      child.kill('SIGKILL');
      await exited;
    }
  });
  const port = await started.promise;
  await told.promise; // the banner and the line travel on two pipes
  first = await holdingsOf(child);
  const key = /Bearer (gw_[0-9a-f]{32})/.exec(stderr)?.[1] ?? options.variables?.['MASTER_KEY'] ?? MASTER_KEY;
  return {
    url: `http://127.0.0.1:${port}`,
    child,
    key,
    lines,
    stderr: () => stderr,
    held,
    leftover: () => leftoverOf(held),
    longestTurn: async () => Number(await tellingOf(child, 'longest turn')),
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      return exited;
    },
  };
}

/** Asks the probe; nothing of a process that has gone or does not answer. */
async function holdingsOf(child: ChildProcess): Promise<Holdings> {
  return child.connected
    ? tellingOf(child, 'holdings').then(
        (told) => told as Holdings,
        () => ({}),
      )
    : {};
}

async function tellingOf(child: ChildProcess, asked: string): Promise<unknown> {
  const answer = once(child, 'message', { signal: AbortSignal.timeout(5000) });
  child.send(asked, () => {}); // it may have gone meanwhile
  const [told] = await answer;
  return told as unknown;
}

async function leftoverOf(held: () => Promise<Holdings>): Promise<Holdings> {
  let last: Holdings = {};
  await eventually(async () => Object.keys((last = await held())).length === 0);
  return last;
}

/** A folder of the test's own. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gw-test-'));
  atEnd(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
