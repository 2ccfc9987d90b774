/** Requests over pools of credentials whose vendors fail in every way, without a network and in no time. */
import type { GatewayError } from '../../host/contract/index.ts';
import { Visit } from '../../host/pipeline/credentials/visit.ts';
import { Dice } from '../kit/index.ts';
import { type Call, credentialOf, failure, PoolWorld } from '../upstream/credentials/pool-world.ts';

const MINUTE = 60_000;

/** What a key of the vendor's does, until it does something else. */
const MOODS: Readonly<Record<string, (dice: Dice) => GatewayError | undefined>> = {
  well: () => undefined,
  busy: (dice) => (dice.below(3) === 0 ? failure({ status: 429 }, dice.below(30_000)) : undefined),
  revoked: () => failure({ status: 401, reason: 'key' }),
  spent: () => failure({ status: 429, reason: 'billing' }),
  moody: (dice) => (dice.below(5) === 0 ? failure({ status: 500 }) : undefined),
};

export interface Simulated {
  readonly requests: number;
  readonly calls: number;
  /** Calls with a key that is revoked or spent, beyond those that found out and those that tried it again. */
  readonly wasted: number;
  /** Requests that no credential answered although a healthy one with a slot stood by. */
  readonly lost: number;
  /** Healthy credentials that got no call in an hour in which thousands came. */
  readonly starved: number;
  readonly mostCalls: number;
}

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const isBad = (mood: string | undefined): boolean => mood === 'revoked' || mood === 'spent';

/** Runs so many requests over six credentials of which at least one is well at any time. */
export function simulate(seed: number, requests: number): Simulated {
  const dice = new Dice(seed);
  const world = new PoolWorld(
    NAMES.map((name) => credentialOf(name, { weight: 1 + dice.below(4) })),
    () => dice.below(1_000_000) / 1_000_000,
  );
  const moods = new Map(NAMES.map((name) => [name, 'well']));
  const wellSince = new Map(NAMES.map((name) => [name, 0]));
  const called = new Map<string, number>();
  const found = { requests, calls: 0, wasted: 0, lost: 0, starved: 0, mostCalls: 0 };
  const badCalls = new Map<string, number>();
  let hour = 0;
  for (let at = 0; at < requests; at += 1) {
    world.clock.advance(dice.below(2000));
    if (dice.below(500) === 0) changeMood(dice, moods, wellSince, world.clock.monotonic());
    const calls = request(world, moods, dice, (name) => {
      called.set(name, (called.get(name) ?? 0) + 1);
      if (isBad(moods.get(name))) badCalls.set(name, (badCalls.get(name) ?? 0) + 1);
    });
    found.calls += calls.length;
    found.mostCalls = Math.max(found.mostCalls, calls.length);
    if (calls.at(-1) !== 'ok') found.lost += Number(calls.at(-1) === 'lost');
    if (world.clock.monotonic() - hour < 60 * MINUTE) continue;
    for (const name of NAMES)
      if (moods.get(name) === 'well' && (wellSince.get(name) ?? 0) < hour - 61 * MINUTE && !called.has(name))
        found.starved += 1;
    // A protected minute of a busy key may have many 401s: a key counts as wasted where it was called more than that allows.
    for (const [, count] of badCalls) if (count > MOST_BAD_CALLS) found.wasted += count;
    badCalls.clear();
    called.clear();
    hour = world.clock.monotonic();
  }
  return found;
}

/** Calls that a bad key may get in an hour: those of the minute after its last success, shared by six, some changes of mood, and the tries. */
const MOST_BAD_CALLS = 250;

function changeMood(dice: Dice, moods: Map<string, string>, wellSince: Map<string, number>, now: number): void {
  const name = dice.pick(NAMES);
  const mood = dice.pick(Object.keys(MOODS));
  const others = NAMES.filter((each) => each !== name && moods.get(each) === 'well');
  if (mood !== 'well' && others.length === 0) return;
  moods.set(name, mood);
  wellSince.set(name, now);
}

/** One request: each call's credential, and how it ended. */
function request(
  world: PoolWorld,
  moods: ReadonlyMap<string, string>,
  dice: Dice,
  onCall: (name: string) => void,
): string[] {
  const visit = new Visit();
  const routing = {};
  const calls: string[] = [];
  for (;;) {
    const isWellReady = NAMES.some(
      (name) =>
        moods.get(name) === 'well' &&
        world.read(name, 'm') === 'ready' &&
        !visit.tried.some((each) => each.name === name),
    );
    const benched = new Set(NAMES.filter((name) => world.read(name, 'm') === 'benched'));
    const call: Call | string = world.begin('m', visit, routing);
    if (typeof call === 'string') return [...calls, isWellReady ? 'lost' : 'none'];
    const { name } = call.used.entry.credential;
    if (benched.has(name) && !call.used.probe) throw new Error(`${name} was called although it is benched`);
    onCall(name);
    const error = MOODS[moods.get(name) ?? 'well']?.(dice);
    world.end(call, error, error ? 'failure' : 'success');
    calls.push(name);
    if (!error) return [...calls, 'ok'];
    if (!visit.next)
      return [...calls, isWellReady && calls.length < 4 && visit.class !== undefined ? 'lost' : 'failed'];
  }
}
