import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { type Clock, within } from '../../../host/common/clock.ts';
import { LineReader } from './line-reader.ts';
import { MAX_MESSAGE_BYTES } from './rpc.ts';

/** What a child may have of the gateway's own environment: no credential is among it. See docs/mcp.md#servers. */
const INHERITED = ['PATH', 'HOME', 'LANG', 'TMPDIR'] as const;

/** How long a child has to end by itself once its input has ended, and then once it was asked to. */
const QUIET_END_MS = 2000;
const ASKED_END_MS = 3000;

/** Bytes of a line of stderr that are kept. */
const MAX_ERROR_LINE = 8 * 1024;

/** Bytes that may wait for a child that does not read its input. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

export interface ProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The gateway's own environment. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  readonly clock: Clock;
}

export interface ProcessEvents {
  readonly onLine: (line: string) => void;
  readonly onErrorLine: (line: string) => void;
  /** The child has closed its stderr: it may be about to end. */
  readonly onErrorEnd: () => void;
  /** Nothing comes from it any more; why. */
  readonly onEnd: (why: string) => void;
}

/** A child in a process group of its own, which ends with it: whatever the child has started is gone, too. */
export class ServerProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #clock: Clock;
  readonly #exited = Promise.withResolvers<void>();
  #hasExited = false;
  /** Its group has got the last signal: from now on its number may be that of another. */
  #isGone = false;

  constructor({ command, args, env, variables, workingDirectory, clock }: ProcessOptions, events: ProcessEvents) {
    this.#clock = clock;
    const inherited = Object.fromEntries(
      INHERITED.flatMap((name) => (variables[name] === undefined ? [] : [[name, variables[name]]])),
    );
    // `detached` makes it the leader of a process group
    this.#child = spawn(command, [...args], {
      cwd: workingDirectory,
      env: { ...inherited, ...env },
      detached: true,
      stdio: 'pipe',
      windowsHide: true,
    });
    this.#listen(events);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** False when it cannot take any more. */
  write(line: string): boolean {
    const { stdin } = this.#child;
    if (!stdin.writable || stdin.writableLength > MAX_UNREAD_BYTES) return false;
    stdin.write(line);
    return true;
  }

  /** Writes a line, and resolves once the child's pipe has it, or has ended. */
  taken(line: string): Promise<void> {
    const { stdin } = this.#child;
    if (!stdin.writable) return Promise.resolve();
    return new Promise((resolve) => {
      stdin.write(line, () => resolve());
    });
  }

  /** Closes its input, asks it to end, ends it, each after some seconds; then whatever is left of its group. */
  async end(): Promise<void> {
    this.#child.stdin.end();
    if (!(await this.#hasEndedWithin(QUIET_END_MS))) {
      this.#signal('SIGTERM');
      if (!(await this.#hasEndedWithin(ASKED_END_MS))) this.#signal('SIGKILL');
    }
    this.kill();
  }

  /** Ends the whole group at once. */
  kill(): void {
    this.#signal('SIGKILL');
    this.#isGone = true;
    const { stdin, stdout, stderr } = this.#child;
    for (const stream of [stdin, stdout, stderr]) stream.destroy(); // one that left the group may hold the other end for ever
  }

  #listen({ onLine, onErrorLine, onErrorEnd, onEnd }: ProcessEvents): void {
    const { stdin, stdout, stderr } = this.#child;
    const lines = new LineReader({
      maxBytes: MAX_MESSAGE_BYTES,
      onLine,
      onTooLong: () => onEnd(`a message exceeds the limit of ${MAX_MESSAGE_BYTES} bytes`),
    });
    const errorLines = new LineReader({ maxBytes: MAX_ERROR_LINE, onLine: onErrorLine });
    stdin.on('error', () => {}); // a child that has gone is noticed by its output
    stdout.on('error', () => {});
    stderr.on('error', () => {});
    stdout.on('data', (bytes: Buffer) => lines.push(bytes));
    stdout.on('close', () => onEnd('its output ended'));
    stderr.on('data', (bytes: Buffer) => errorLines.push(bytes));
    stderr.on('end', () => {
      if (!this.#hasExited) onErrorEnd();
    });
    this.#child.on('error', (error: NodeJS.ErrnoException) => {
      this.#noteExit();
      onEnd(`the command could not be started: ${error.code ?? 'no reason is known'}`);
    });
    this.#child.on('exit', (code, signal) => {
      this.#noteExit();
      // a process that it has started may serve on in its place
      onErrorEnd();
      if (stdout.readableEnded || stdout.destroyed) onEnd(`it ended with ${signal ?? `code ${code}`}`);
    });
  }

  #noteExit(): void {
    this.#hasExited = true;
    this.#exited.resolve();
  }

  #hasEndedWithin(ms: number): Promise<boolean> {
    return within(this.#exited.promise, ms, this.#clock, 'the end of a tool server').then(
      () => true,
      () => false,
    );
  }

  /** To the whole group, which outlives its leader for as long as one of it lives. */
  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined || this.#isGone) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // none of the group is left
    }
  }
}
