import { Channel } from '../../host/workers/channel.ts';
import type { AskAll, PrimaryTeam, Seat, SeatHandler } from '../../host/workers/team.ts';

interface Said {
  readonly seat: Seat;
  readonly topic: string;
}

/** Workers that answer what a test says, in this process. */
export interface FakeTeam extends PrimaryTeam {
  /** What they were asked and heard. */
  readonly said: Said[];
  readonly replaced: Seat[];
  /** Those that answer nothing. */
  readonly silent: Set<Seat>;
  answer(topic: string, answer: (seat: Seat) => unknown): void;
  /** A worker asks. */
  hear(seat: Seat, topic: string, value: unknown): Promise<unknown>;
}

export function fakeTeam(size: number): FakeTeam {
  const handlers = new Map<string, SeatHandler>();
  const answers = new Map<string, (seat: Seat) => unknown>();
  const said: Said[] = [];
  const replaced: Seat[] = [];
  const silent = new Set<Seat>();
  const seats: Seat[] = Array.from({ length: size }, (_, at) => ({
    number: at + 1,
    channel: new Channel({ send: () => true, listen: () => {} }),
  }));
  for (const seat of seats) seat.channel.tell = (topic) => void said.push({ seat, topic });
  return {
    role: 'primary',
    size,
    seats,
    said,
    replaced,
    silent,
    on: (topic, handler) => void handlers.set(topic, handler),
    onGone: () => {},
    tellAll: (topic) => {
      for (const seat of seats) said.push({ seat, topic });
    },
    askAll: async <T>(topic: string, { only, late, limitMs }: AskAll) => {
      const all = new Map<Seat, T | Error>();
      for (const seat of seats.filter((each) => only?.has(each) ?? true)) {
        said.push({ seat, topic });
        if (silent.has(seat)) late?.(seat, limitMs);
        else
          try {
            all.set(seat, answers.get(topic)?.(seat) as T);
          } catch (error) {
            all.set(seat, error as Error);
          }
      }
      return all;
    },
    begin: async () => {},
    drain: async () => {},
    killAll: () => {},
    roll: async () => {},
    isUp: () => true,
    replace: (seat) => void replaced.push(seat),
    answer: (topic, answer) => void answers.set(topic, answer),
    hear: async (seat, topic, value) => handlers.get(topic)?.(value, seat),
  };
}

/** Why this fails. */
export async function failureOf(work: Promise<unknown>): Promise<Error> {
  const outcome = await work.then(
    () => undefined,
    (error: unknown) => error as Error,
  );
  if (!outcome) throw new Error('it did not fail');
  return outcome;
}
