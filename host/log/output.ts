import { constants, fstatSync, openSync, write, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import type { Clock, Timer } from '../common/clock.ts';
import type { LineWriter } from './logger.ts';

/** Bytes of lines that are written together. */
const CHUNK_BYTES = 64 * 1024;
/** What waits while nothing can be written; lines beyond it are lost, and counted. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/** Longest time a line is held to be written with others. */
const FLUSH_MS = 50;
/** Time between two tries where the reader is behind, and where writing fails. */
const BUSY_MS = 20;
const RETRY_MS = 1000;
/** Longest time an exit waits for the log. */
const EXIT_MS = 1000;

/** A descriptor that lines are written to. */
export interface Destination {
  readonly descriptor: number;
  /** A write to it never waits: what does not fit is refused. Where it may wait, for a disk, it is left to another thread. */
  readonly isNonBlocking: boolean;
}

/**
 * How to write to standard output, or a file, without waiting for the process that reads it. A thread that waits in a write cannot be called back, and
 * the process cannot end before it (docs/decisions/0012).
 */
export function destinationOf(descriptor: number): Destination {
  const stats = fstatSync(descriptor);
  if (!stats.isFIFO() && !stats.isSocket() && !isatty(descriptor)) return { descriptor, isNonBlocking: false };
  try {
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
    return {
      descriptor: openSync(`/proc/self/fd/${descriptor}`, O_WRONLY | O_NONBLOCK | O_NOCTTY),
      isNonBlocking: true,
    };
  } catch {
    // A socket, a pipe of another user, a system without /proc: Node's own stream, once it is opened, makes pipes and sockets non-blocking.
    return { descriptor, isNonBlocking: process.stdout.writable && !isatty(descriptor) };
  }
}

interface Chunk {
  readonly bytes: Buffer;
  /** Bytes filled, and of these written. */
  length: number;
  written: number;
}

export interface LogOutputOptions extends Destination {
  readonly clock: Clock;
  /** Called once writing works again: how many lines were lost, and why, as the system's error code. */
  readonly onLost: (lines: number, reason: string) => void;
  readonly maxWaitingBytes?: number;
}

/**
 * Writes log lines, many at a time. Whatever becomes of the descriptor, no request waits for it, and an exit waits a
 * second at most. Not `pino.destination`: see docs/decisions/0012.
 */
export class LogOutput implements LineWriter {
  readonly #options: LogOutputOptions;
  /** In the order of writing; the last one is being filled. */
  readonly #queue: Chunk[] = [];
  #bytes = 0;
  /** The last chunk that was done with: usually the next one. */
  #spare: Chunk | undefined;
  #timer: Timer | undefined;
  /** Bytes that another thread is writing. */
  #underWay = 0;
  /** The last try was refused, so nothing is tried before the timer fires. */
  #isRefused = false;
  /** The last try failed with an error; a reader that is only slow does not set this. */
  #isBroken = false;
  #lost = 0;
  #reason = 'EAGAIN';

  constructor(options: LogOutputOptions) {
    this.#options = options;
  }

  write(line: string): void {
    const needed = line.length * 3; // the most that UTF-8 makes of it
    const last = this.#queue.at(-1);
    const chunk = last && last.bytes.length - last.length >= needed ? last : this.#nextChunk(needed);
    if (!chunk) {
      this.#lost += 1;
      return;
    }
    chunk.length += chunk.bytes.write(line, chunk.length);
    this.#schedule(FLUSH_MS);
  }

  /** Writes what is left; gives up after a second, and at once where writing fails. */
  async finish(): Promise<void> {
    const { clock } = this.#options;
    const deadline = clock.monotonic() + EXIT_MS;
    this.#isBroken = false;
    for (this.#attempt(); this.#queue.length > 0 && !this.#isBroken && clock.monotonic() < deadline; this.#attempt()) {
      await new Promise<void>((resolve) => {
        clock.timer(BUSY_MS / 4, resolve);
      });
    }
    this.#timer?.cancel();
    this.#queue.length = 0; // what an exit could not write in time is given up
  }

  /** Writes what waits, synchronously, for a process that is ending now. */
  finishNow(): void {
    const { descriptor, clock } = this.#options;
    const deadline = clock.monotonic() + EXIT_MS;
    const [first] = this.#queue;
    if (first) first.written += this.#underWay; // the other thread ends before the process does
    const rest = Buffer.concat(this.#queue.map(({ bytes, written, length }) => bytes.subarray(written, length)));
    for (let at = 0; at < rest.length && clock.monotonic() < deadline;) {
      try {
        at += writeSync(descriptor, rest, at);
      } catch (error) {
        if (codeOf(error) !== 'EAGAIN') return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_MS);
      }
    }
    this.#queue.length = 0;
  }

  /** A further chunk, once the full one before it has been tried. `undefined` when too much waits. */
  #nextChunk(needed: number): Chunk | undefined {
    if (!this.#isRefused) this.#attempt();
    const size = Math.max(CHUNK_BYTES, needed);
    if (this.#bytes + size > (this.#options.maxWaitingBytes ?? MAX_WAITING_BYTES)) return undefined;
    const spare = this.#spare && this.#spare.bytes.length >= size ? this.#spare : undefined;
    const chunk = spare ?? { bytes: Buffer.allocUnsafeSlow(size), length: 0, written: 0 };
    this.#spare = undefined;
    this.#bytes += chunk.bytes.length;
    this.#queue.push(chunk);
    return chunk;
  }

  #schedule(ms: number): void {
    this.#timer ??= this.#options.clock.timer(ms, () => {
      this.#timer = undefined;
      this.#isRefused = false;
      this.#attempt();
    });
  }

  #attempt(): void {
    const { descriptor, isNonBlocking } = this.#options;
    const [chunk] = this.#queue;
    if (!chunk || this.#underWay > 0) return;
    const { bytes, written, length } = chunk;
    if (!isNonBlocking) {
      this.#underWay = length - written;
      write(descriptor, bytes, written, length - written, null, (error, count) => {
        this.#underWay = 0;
        if (error) this.#refused(error);
        else this.#wrote(chunk, count);
      });
      return;
    }
    let count: number;
    try {
      count = writeSync(descriptor, bytes, written, length - written);
    } catch (error) {
      this.#refused(error);
      return;
    }
    this.#wrote(chunk, count);
  }

  #refused(error: unknown): void {
    this.#reason = codeOf(error);
    this.#isBroken = this.#reason !== 'EAGAIN';
    this.#isRefused = true;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#schedule(this.#isBroken ? RETRY_MS : BUSY_MS);
  }

  #wrote(chunk: Chunk, count: number): void {
    this.#isBroken = false;
    chunk.written += count;
    if (chunk.written === chunk.length) {
      this.#queue.shift();
      this.#bytes -= chunk.bytes.length;
      chunk.length = chunk.written = 0;
      if (chunk.bytes.length === CHUNK_BYTES) this.#spare = chunk;
      this.#tellLost();
    }
    if (this.#queue.length > 1) this.#attempt();
    else if (this.#queue.length > 0) this.#schedule(FLUSH_MS); // lines that arrived meanwhile are collected until the next write
  }

  /** Follows the last line that was kept. */
  #tellLost(): void {
    if (this.#lost === 0) return;
    const lost = this.#lost;
    this.#lost = 0;
    this.#options.onLost(lost, this.#reason);
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown';
