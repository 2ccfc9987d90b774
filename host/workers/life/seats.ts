import type { Clock, Timer } from '../../common/clock.ts';
import { Channel } from '../channel.ts';
import type { Seat } from '../team.ts';
import type { ProcessEnd, WorkerProcess } from './worker-process.ts';

/** What became of a worker before it was ready. */
export type Readiness = { readonly isReady: true } | { readonly isReady: false; readonly reason: string };

/** Why a worker ended, where the primary knows better than its exit code. */
export type EndReason = 'exit' | 'signal' | 'silent' | 'replaced' | 'drained';

/** One worker from its first moment to its end. */
export class LiveSeat implements Seat {
  readonly number: number;
  readonly channel: Channel;
  readonly process: WorkerProcess;
  /** Set where the primary ended it. */
  endReason: EndReason | undefined;
  isReady = false;
  /** It has asked for what it begins with, and so may know of something. */
  hasBegun = false;
  /** Monotonic milliseconds of its last sign. */
  heardAt: number;
  readonly #ready = Promise.withResolvers<Readiness>();
  readonly #ended = Promise.withResolvers<ProcessEnd>();

  constructor(number: number, process: WorkerProcess, clock: Pick<Clock, 'monotonic'>) {
    this.number = number;
    this.process = process;
    this.channel = new Channel(process.port);
    this.heardAt = clock.monotonic();
    process.onEnd((end) => {
      this.channel.close(new Error(`worker ${number} has ended`));
      this.#ready.resolve({ isReady: false, reason: endText(end) });
      this.#ended.resolve(end);
    });
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  /** Resolves once it serves, or will not. */
  get readiness(): Promise<Readiness> {
    return this.#ready.promise;
  }

  get ended(): Promise<ProcessEnd> {
    return this.#ended.promise;
  }

  becameReady(): void {
    this.isReady = true;
    this.#ready.resolve({ isReady: true });
  }

  refused(reason: string): void {
    this.#ready.resolve({ isReady: false, reason });
  }

  kill(reason: EndReason): void {
    this.endReason ??= reason;
    this.process.kill();
  }
}

export const endText = ({ code, signal }: ProcessEnd): string =>
  signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`;

/** Ends of workers of the last minute, which say how long the next one waits. */
export class RecentEnds {
  static readonly WINDOW_MS = 60_000;
  /** Milliseconds before the next one is made, by how many have ended. After the last of them none is made. */
  static readonly WAITS_MS: readonly number[] = [0, 1000, 2000, 4000, 8000];
  readonly #clock: Pick<Clock, 'monotonic'>;
  #ends: readonly number[] = [];

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** How long to wait before the next is made; `undefined`: workers end again and again. */
  add(): number | undefined {
    const now = this.#clock.monotonic();
    this.#ends = [...this.#ends.filter((at) => now - at < RecentEnds.WINDOW_MS), now];
    return RecentEnds.WAITS_MS[this.#ends.length - 1];
  }
}

/** Calls again and again, `ms` apart, until it is stopped. */
export function every(clock: Pick<Clock, 'timer'>, ms: number, run: () => void): () => void {
  let isOver = false;
  let timer: Timer | undefined;
  const next = (): void => {
    timer = clock.timer(ms, () => {
      if (isOver) return;
      run();
      next();
    });
  };
  next();
  return () => {
    isOver = true;
    timer?.cancel();
  };
}
