import type { Counters, Log } from '../contract/index.ts';
import type { Channel } from './channel.ts';

/** One worker, as the primary sees it. */
export interface Seat {
  /** From 1; a worker that replaces another one has its number. */
  readonly number: number;
  readonly channel: Channel;
}

/** Takes what a worker says; what it returns is the answer to a question. */
export type SeatHandler = (value: unknown, seat: Seat) => unknown;

/** The process that owns what is owned once, and its workers. */
export interface PrimaryTeam {
  readonly role: 'primary';
  /** Workers that there should be. */
  readonly size: number;
  /** Those that live. */
  readonly seats: readonly Seat[];
  /** From every worker, present and future. */
  on(topic: string, handler: SeatHandler): void;
  /** Calls when a worker has ended, however. */
  onGone(listener: (seat: Seat) => void): void;
  tellAll(topic: string, value?: unknown, except?: Seat): void;
  /**
   * Asks all of them, and resolves once each has answered, has ended or has been waited for so long. `late` hears of those that did not answer in time; one that threw
   * counts as answered with the error.
   */
  askAll<T>(topic: string, options: AskAll): Promise<ReadonlyMap<Seat, T | Error>>;
  /** Makes all workers, and resolves once each serves. Rejects with why one cannot. */
  begin(start: TeamStart): Promise<void>;
  /** Lets every worker finish what it serves, and resolves once all have ended. */
  drain(limitMs: number): Promise<void>;
  /** Ends all of them at once. */
  killAll(): void;
  /** Replaces them one by one: the new one serves before the old one drains. */
  roll(): Promise<void>;
  /** Whether the worker of a number serves. */
  isUp(number: number): boolean;
  /** Ends a worker at once; another one takes its place. */
  replace(seat: Seat, waitedMs: number): void;
}

/** What the primary's host adds once it stands. */
export interface TeamStart {
  readonly log: Log;
  readonly counters: Counters;
  readonly given: (number: number) => GivenToWorker;
  /** Workers end again and again: this process is to end as well. */
  readonly giveUp: () => void;
}

export interface AskAll {
  readonly value?: unknown;
  readonly limitMs: number;
  /** All unless given. */
  readonly only?: ReadonlySet<Seat>;
  readonly late?: (seat: Seat, waitedMs: number) => void;
}

/** A process that serves clients, and asks the primary for what is owned once. */
export interface WorkerTeam {
  readonly role: 'worker';
  readonly number: number;
  readonly channel: Channel;
  /** What the primary read at its start. */
  readonly given: GivenToWorker;
}

/** What a worker begins with. */
export interface GivenToWorker {
  readonly number: number;
  readonly size: number;
  /** The primary's, those of files among them. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Set where it was made at the start. */
  readonly masterKey: string | undefined;
  /** Port of clients, which the primary has tried. */
  readonly port: number;
  /** Path of the socket that requests of the control plane are sent on to. */
  readonly socketPath: string;
}

/** `undefined`: one process does everything. */
export type Team = PrimaryTeam | WorkerTeam | undefined;

/** What the primary and its workers say to each other, by topic. */
export const TOPIC = {
  given: 'given',
  ready: 'ready',
  refused: 'refused',
  beat: 'beat',
  drain: 'drain',
  end: 'end',
  hangUp: 'hang up',
} as const;
