import { createHash } from 'node:crypto';
import { Agent } from 'node:http';
import { expect } from 'chai';
import { Slots } from '../../../builtins/resilience/slots.ts';
import { defineBuiltin } from '../../../host/builtin.ts';
import {
  eventually,
  FAULT_NAMES,
  type FakeClock,
  fakeClock,
  type FaultScript,
  faultUpstream,
  type FaultUpstream,
  pick,
  type Played,
  seeded,
  seedFor,
  startHost,
  type TestHost,
} from '../../kit/index.ts';
import { expectWhole, readOutcome, type Verdict, verdictOf } from './map.ts';
import { type Ask, ASK_NAMES, askFor, type Outcome, tagOf } from './surfaces.ts';

/** Every mode of this build, with what it needs to run on the targets `a` and `b`. */
export const MODES: Readonly<Record<string, object>> = {
  single: {},
  fallback: {},
  loadbalance: {},
  'least-latency': {},
  'cost-optimized': {},
  'ab-test': {
    ab_variants: [
      { target_key: 'a', weight: 1, label: 'x' },
      { target_key: 'b', weight: 2, label: 'y' },
    ],
  },
  conditional: { conditions: [{ key: 'model', value: 'm', target_key: 'b' }] },
  'content-based': { content_conditions: [{ type: 'prompt_contains', value: 'hi', target_key: 'b' }] },
};

const REQUEST_LIMIT_MS = 300_000;
const ATTEMPT_LIMIT_MS = 20_000;
const IDLE_LIMIT_MS = 120_000;
/** Longer than any wait between tries that a fault asks for. */
const RETRY_PAUSE_MS = 10_000;
const BETWEEN_REQUESTS_MS = 3000;
const GOOD_SHARE = 0.35;
const LEAVING_SHARE = 0.3;

const TARGET = {
  request_timeout: '20s',
  retry: { attempts: 2 },
  circuit_breaker: { failure_threshold: 3, timeout: '45s' },
  concurrency: { max_concurrency: 4, queue_size: 4 },
};

/** Good answers and every fault, drawn anew for each try of each request. */
export const anyFault: FaultScript = ({ random }) =>
  random() < GOOD_SHARE ? { fault: 'ok' } : { fault: pick(random, FAULT_NAMES), wait_ms: 4 };

export function configOf(
  mode: string,
  upstreams: readonly FaultUpstream[],
  target: object = TARGET,
  requestTimeout = `${REQUEST_LIMIT_MS}ms`,
): object {
  const targets = upstreams.map((upstream, at) => upstream.target(at === 0 ? 'a' : 'b', { ...target, weight: at + 1 }));
  return { strategy: { mode, ...MODES[mode] }, request_timeout: requestTimeout, targets };
}

/** One gateway with one strategy, asked one request after another on a clock that moves only when it must. */
export class Lane {
  readonly mode: string;
  readonly digests: string[] = [];
  readonly faults = new Set<string>();
  readonly clock: FakeClock = fakeClock();
  readonly #seed: number;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #played: Played[] = [];
  #host: TestHost | undefined;
  #upstreams: FaultUpstream[] = [];
  #begun = Promise.withResolvers<void>();
  #leave: (() => void) | undefined;

  constructor(mode: string, seed: number) {
    this.mode = mode;
    this.#seed = seedFor(seed, mode);
  }

  async open(): Promise<this> {
    for (const name of ['a', 'b']) {
      this.#upstreams.push(
        await faultUpstream({
          script: anyFault,
          seed: seedFor(this.#seed, name),
          keyOf: ({ text }) => tagOf(text),
          onPlay: (played) => {
            this.#played.push(played);
          },
          onHang: (played) => {
            void this.#endHang(played);
          },
        }),
      );
    }
    this.#host = await startHost(configOf(this.mode, this.#upstreams), {
      clock: this.clock,
      random: seeded(this.#seed),
      builtins: [this.#pacer()],
    });
    return this;
  }

  /** Asks once, checks the answer against what was played, and notes it. */
  async ask(place: number): Promise<void> {
    const random = seeded(seedFor(this.#seed, `ask ${place}`));
    const ask = pick(random, ASK_NAMES);
    const leaving = new AbortController();
    this.#leave = random() < LEAVING_SHARE ? () => leaving.abort() : undefined;
    this.#begun = Promise.withResolvers();
    this.#played.length = 0;
    const startedAt = this.clock.monotonic();
    const asked = askFor(ask, {
      url: this.#live.url,
      agent: this.#agent,
      tag: `tag-${place}`,
      onData: this.#begun.resolve,
      signal: leaving.signal,
    });
    const outcome = await asked.catch((error: Error) => error);
    await this.#quiet();
    for (const { step } of this.#played) this.faults.add(step.fault);
    if (outcome instanceof Error || leaving.signal.aborted) {
      if (outcome instanceof Error) expect(leaving.signal.aborted, String(outcome)).to.equal(true);
      this.digests.push(`${place} ${ask} left ${this.#story()}`);
    } else this.#note(place, ask, outcome, this.clock.monotonic() - startedAt >= REQUEST_LIMIT_MS);
    this.clock.advance(BETWEEN_REQUESTS_MS);
  }

  /** Nothing is held any more, and no timer waits. */
  async close(): Promise<void> {
    await expectNothingHeld(this.#live, this.#upstreams);
    this.clock.advance(IDLE_LIMIT_MS);
    expect(this.clock.waiting, `timers that wait on ${this.mode}`).to.equal(0);
    this.#agent.destroy();
    await this.#live.close();
    for (const upstream of this.#upstreams) await upstream.close();
  }

  get #live(): TestHost {
    return this.#host ?? expect.fail('the lane is not open');
  }

  #story(): string {
    return this.#played
      .map(
        ({ step, call }) =>
          `${step.fault}@${call.headers['host']?.endsWith(String(this.#upstreams[0]?.port)) ? 'a' : 'b'}`,
      )
      .join(',');
  }

  #note(place: number, ask: Ask, outcome: Outcome, isLate: boolean): void {
    const verdict = expectAllowed(ask, outcome, this.#played, isLate);
    const isWhole = verdict.kind === 'answer' || verdict.kind === 'error';
    const { status, headers, body } = outcome;
    const print = isWhole ? createHash('sha256').update(body).digest('hex').slice(0, 12) : '';
    this.digests.push(
      `${place} ${ask} ${status} ${JSON.stringify(verdict)} ${String(headers['x-gateway-target'])} ${String(headers['x-gateway-attempts'])} ${print} ${this.#story()}`,
    );
  }

  /** A try that failed may be waited for: time passes, once all timers are set. */
  #pacer(): ReturnType<typeof defineBuiltin> {
    return defineBuiltin({
      name: 'pacer',
      apply: ({ hooks }) =>
        hooks.assemble.tapPromise('pacer', async ({ hooks: pipeline }) =>
          pipeline.settled.tap('pacer', ({ error }) => {
            if (error) setImmediate(() => this.clock.advance(RETRY_PAUSE_MS));
          }),
        ),
    });
  }

  /** A silent upstream is what time passes for, or the client leaves it. */
  async #endHang({ step, answer }: Played): Promise<void> {
    const hasBegun =
      answer?.surface === 'speech'
        ? /^(stall|endless)$/.test(step.fault)
        : step.fault === 'stall' && answer?.isStream === true;
    if (hasBegun) await this.#begun.promise;
    else
      await new Promise((resolve) => {
        setTimeout(resolve, 5);
      });
    if (this.#leave) this.#leave();
    else this.clock.advance(answer?.isStream && hasBegun ? IDLE_LIMIT_MS + 1 : ATTEMPT_LIMIT_MS + 1);
  }

  async #quiet(): Promise<void> {
    const { host } = this.#live;
    while (host.slot.leases > 0 || host.activity.count > 0)
      await new Promise((resolve) => {
        setTimeout(resolve, 1);
      });
    for (let turn = 0; turn < 3; turn += 1)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
  }
}

const LOCAL = new Set(['upstream_unavailable', 'provider_saturated']);
const STATUS_RETRIED = (status: number): boolean => status < 400 || status === 408 || status === 429 || status >= 500;

/** Whether another try may follow what this one met. */
function mayBeFollowed(played: Played): boolean {
  const verdict = verdictOf(played);
  if (verdict.kind !== 'error') return false;
  const [first] = played.moves;
  const status =
    first?.do === 'write' ? Number(/^HTTP\/1\.1 (\d+)/.exec(first.bytes.toString('latin1'))?.[1]) : Number.NaN;
  return verdict.code !== 'invalid_request' && (Number.isNaN(status) || STATUS_RETRIED(status));
}

/** A bound ran out: before the answer, inside a stream, or while bytes went on. */
function endsByTheClock(verdict: Verdict): boolean {
  return (
    verdict.kind === 'cut' ||
    (verdict.kind !== 'answer' && (verdict.code === 'gateway_timeout' || verdict.code === 'stream_timeout'))
  );
}

/** An answer must be what the map makes of the last try, and every earlier one must have been a failure worth another. */
export function expectAllowed(ask: Ask, outcome: Outcome, played: readonly Played[], isLate: boolean): Verdict {
  const verdict = readOutcome(ask, outcome);
  const story = played.map(({ step }) => step.fault).join(', ');
  const attempts = Number(outcome.headers['x-gateway-attempts']);
  const isLocal = verdict.kind === 'error' && LOCAL.has(verdict.code);
  const isOutOfTime = isLate && endsByTheClock(verdict);
  for (const earlier of played.slice(0, -1))
    expect(isLate || mayBeFollowed(earlier), `${earlier.step.fault} is followed: ${story}`).to.equal(true);
  expect(attempts, story).to.be.within(Math.max(1, played.length), played.length + 4);
  const last = played.at(-1);
  if (isLocal || isOutOfTime) return verdict;
  if (!last) return expect.fail(`nothing was asked, and yet: ${JSON.stringify(verdict)}`);
  const { message: _message, ...wanted } = { message: undefined, ...verdictOf(last) };
  expect(verdict, `${ask}: ${story}`).to.deep.equal(wanted);
  if (verdict.kind === 'answer') expectWhole(ask, outcome, last);
  return verdict;
}

/** Leases, requests, slots, places in queues, and calls that an upstream still answers. */
export async function expectNothingHeld({ host }: TestHost, upstreams: readonly FaultUpstream[]): Promise<void> {
  const busy = (): number => upstreams.reduce((sum, upstream) => sum + upstream.busy, 0);
  await eventually(() => busy() === 0);
  expect(busy(), 'calls that an upstream still answers').to.equal(0);
  const view = host.carryover.open();
  const slots = ['a', 'b'].map((name) => view.lease(`limiter ${name}`, () => new Slots()));
  expect({
    leases: host.slot.leases,
    live: host.slot.live,
    requests: host.activity.count,
    held: slots.map(({ held }) => held),
    waiting: slots.map(({ waiting }) => waiting),
  }).to.deep.equal({ leases: 0, live: 1, requests: 0, held: [0, 0], waiting: [0, 0] });
  await view.release();
}

/** Runs every mode on a lane of its own, all lanes at the same time. */
export async function runLanes(
  modes: readonly string[],
  requests: number,
  seed: number,
): Promise<{ readonly digests: readonly string[]; readonly faults: ReadonlySet<string> }> {
  const lanes = await Promise.all(modes.map((mode) => new Lane(mode, seed).open()));
  await Promise.all(
    lanes.map(async (lane, at) => {
      for (let place = at; place < requests; place += lanes.length) await lane.ask(place);
    }),
  );
  for (const lane of lanes) await lane.close();
  return {
    digests: lanes.flatMap(({ mode, digests }) => digests.map((digest) => `${mode} ${digest}`)),
    faults: new Set(lanes.flatMap(({ faults }) => [...faults])),
  };
}
