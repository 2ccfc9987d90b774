import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Time a process has to go by itself once asked to. */
const STOP_MS = 5000;
/** Kept of what a process writes to its standard error. */
const TAIL_CHARACTERS = 4000;

export interface Child {
  readonly process: ChildProcess;
  readonly pid: number;
  readonly exited: Promise<number | null>;
  /** The end of its standard error. */
  readonly stderr: () => string;
  /** Asks it to go, and makes it. */
  readonly stop: () => Promise<void>;
}

export interface StartOptions {
  readonly cwd?: string;
  /** Beside PATH, HOME and NODE_ENV; nothing else of this process's environment goes with what is measured. */
  readonly variables?: Readonly<Record<string, string>>;
  /** All of this process's environment instead, as package managers need it. */
  readonly inheritsEnvironment?: boolean;
  /** What becomes of its standard output; thrown away unless said. */
  readonly stdout?: 'ignore' | 'pipe';
  /** Opens a message channel. */
  readonly ipc?: boolean;
}

/** Whatever a run starts or writes; all of it goes when this process does, whatever ends it. */
export interface Workspace {
  readonly folder: string;
  start(command: readonly string[], options?: StartOptions): Child;
  /** Runs a command to its end, in this process's environment; gives its standard output, throws when it fails. */
  run(command: readonly string[], options?: StartOptions): Promise<string>;
  /** Done at the end, last registered first; synchronous, as a process that ends waits for nothing. */
  atEnd(undo: () => void): void;
  /** Ends what still runs, in good order. What is not closed so ends with this process, at once. */
  close(): Promise<void>;
}

export function createWorkspace(): Workspace {
  const folder = mkdtempSync(join(tmpdir(), 'gw-bench-'));
  const children = new Set<Child>();
  const undone: (() => void)[] = [];
  process.on('exit', () => {
    for (const { pid } of children) killGroup(pid);
    for (const undo of undone.toReversed()) undo();
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => process.exit(128 + constants.signals[signal]));

  const start = (command: readonly string[], options: StartOptions = {}): Child => {
    const child = follow(launch(command, options), command);
    children.add(child);
    void child.exited.then(() => children.delete(child));
    return child;
  };
  return {
    folder,
    start,
    run: (command, options) =>
      outputOf(start(command, { ...options, inheritsEnvironment: true, stdout: 'pipe' }), command),
    atEnd: (undo) => undone.push(undo),
    close: async () => {
      await Promise.all([...children].map(({ stop }) => stop()));
    },
  };
}

/** A process and what it started itself. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // gone already
  }
}

function launch(
  [program = '', ...args]: readonly string[],
  { cwd, variables = {}, inheritsEnvironment = false, stdout = 'ignore', ipc = false }: StartOptions,
): ChildProcess {
  const { PATH, HOME } = process.env;
  const env = inheritsEnvironment ? process.env : { PATH, HOME, NODE_ENV: 'production', ...variables };
  return spawn(program, args, {
    detached: true,
    ...(cwd !== undefined && { cwd }),
    env,
    stdio: ['ignore', stdout, 'pipe', ...(ipc ? ['ipc' as const] : [])],
  });
}

function follow(process: ChildProcess, command: readonly string[]): Child {
  let tail = '';
  process.stderr?.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-TAIL_CHARACTERS);
  });
  const exited = new Promise<number | null>((resolve) => {
    process.once('close', resolve);
    process.once('error', ({ message }) => {
      tail += message;
      resolve(null);
    });
  });
  if (process.pid === undefined) throw new Error(`${command[0]} cannot be started`);
  return {
    process,
    pid: process.pid,
    exited,
    stderr: () => tail,
    stop: async () => {
      process.kill('SIGTERM');
      const timer = setTimeout(() => process.kill('SIGKILL'), STOP_MS);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** The output of a child whose standard output is piped, once it has ended; throws when it failed. */
export async function outputOf(child: Child, command: readonly string[]): Promise<string> {
  let output = '';
  child.process.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const code = await child.exited;
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}:\n${child.stderr()}`);
  return output;
}

/** What a child sends next; rejects when it ends instead. */
export async function nextMessage<T>({ process, exited, stderr }: Child): Promise<T> {
  const message = Promise.withResolvers<T>();
  process.once('message', message.resolve);
  return Promise.race([
    message.promise,
    exited.then((code) => {
      throw new Error(`a process ended with ${code} instead of answering:\n${stderr()}`);
    }),
  ]);
}
