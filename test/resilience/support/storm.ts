import { Agent } from 'node:http';
import { expect } from 'chai';
import {
  eventually,
  expectGivenBack,
  type FaultName,
  faultUpstream,
  holdings,
  pick,
  type Played,
  seeded,
  seedFor,
  startHost,
} from '../../kit/index.ts';
import { anyFault, configOf, expectAllowed, expectNothingHeld } from './chaos.ts';
import { ASK_NAMES, askFor, tagOf } from './surfaces.ts';

export interface StormPlan {
  readonly mode: string;
  readonly requests: number;
  /** Requests at the same time. */
  readonly clients: number;
  readonly seed: number;
}

const REQUEST_LIMIT_MS = 1500;
const IDLE_LIMIT_MS = 700;
const LEAVING_SHARE = 0.1;
const LONGEST_STAY_MS = 25;

const TARGET = {
  request_timeout: '600ms',
  retry: { attempts: 2, initial_backoff_ms: 5 },
  circuit_breaker: { failure_threshold: 6, timeout: '50ms' },
  concurrency: { max_concurrency: 8, queue_size: 6 },
};

/** Rows 1 to 7 of the precedence end by the clock; a late answer may be any of these. */
const isLate = (ms: number): boolean => ms >= 550;

/** Many clients, real time, faults at random, some who leave: every answer is one of the map's, and all is given back. */
export async function expectStorm({ mode, requests, clients, seed }: StormPlan): Promise<ReadonlySet<FaultName>> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  }); // the runner arms its own timer once the test has begun
  const before = holdings();
  const played = new Map<string, Played[]>();
  const met = new Set<FaultName>();
  const onPlay = (one: Played): void => {
    met.add(one.step.fault);
    played.set(one.key, [...(played.get(one.key) ?? []), one]);
  };
  const upstreams = await Promise.all(
    ['a', 'b'].map((name) =>
      faultUpstream({ script: anyFault, seed: seedFor(seed, name), keyOf: ({ text }) => tagOf(text), onPlay }),
    ),
  );
  const host = await startHost(configOf(mode, upstreams, TARGET, `${REQUEST_LIMIT_MS}ms`), {
    streamIdleMs: IDLE_LIMIT_MS,
    random: seeded(seed),
  });
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  let next = 0;
  const client = async (): Promise<void> => {
    for (let place = next++; place < requests; place = next++) {
      const random = seeded(seedFor(seed, `ask ${place}`));
      const ask = pick(random, ASK_NAMES);
      const leaving = new AbortController();
      const timer =
        random() < LEAVING_SHARE ? setTimeout(() => leaving.abort(), random() * LONGEST_STAY_MS) : undefined;
      const outcome = await askFor(ask, { url: host.url, agent, tag: `tag-${place}`, signal: leaving.signal }).catch(
        (error: Error) => error,
      );
      clearTimeout(timer);
      if (leaving.signal.aborted) continue;
      if (outcome instanceof Error) throw outcome;
      expectAllowed(ask, outcome, played.get(`tag-${place}`) ?? [], isLate(outcome.ms));
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  await eventually(() => host.host.slot.leases === 0 && host.host.activity.count === 0);
  await expectNothingHeld(host, upstreams);
  expect(
    host.lines.filter(({ level, msg }) => level === 'ERROR' && !/request failed$|^http request$/.test(String(msg))),
  ).to.deep.equal([]);
  agent.destroy();
  await host.close();
  for (const upstream of upstreams) await upstream.close();
  await expectGivenBack(before);
  return met;
}
