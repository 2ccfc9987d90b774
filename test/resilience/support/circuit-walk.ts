import { expect } from 'chai';
import { GatewayError } from '../../../host/contract/index.ts';
import type { Lease } from '../../../host/generation/slot.ts';
import type { Attempt, Outcome } from '../../../host/pipeline/attempts/attempt.ts';
import {
  fakeClock,
  type FakeClock,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../../kit/index.ts';
import { PlainModel } from './plain-model.ts';

const SWAP_SHARE = 0.08;
const OUTCOMES: readonly Outcome[] = ['success', 'failure', 'failure', 'ignored'];

/** Settings as a configuration writes them, and as the model reads them. */
const BLOCKS = [
  { failure_threshold: 2, success_threshold: 1, max_half_threshold: 1, timeout: '100ms' },
  { failure_threshold: 3, success_threshold: 2, max_half_threshold: 2, timeout: '100ms' },
  { failure_threshold: 1, success_threshold: 1, max_half_threshold: 1, timeout: '250ms' },
] as const;

const modelOf = (block: (typeof BLOCKS)[number]): PlainModel =>
  new PlainModel({
    failureThreshold: block.failure_threshold,
    successThreshold: block.success_threshold,
    maxProbes: block.max_half_threshold,
    openMs: Number.parseInt(block.timeout, 10),
  });

/** An admitted call: the lease of its generation, the attempt that generation's taps know, and what the model remembers. */
interface Call {
  readonly lease: Lease;
  readonly attempt: Attempt;
  readonly model: PlainModel | undefined;
  readonly era: number;
  readonly generation: number;
}

/** Circuits by the carryover rule: one per block, for as long as some living generation has that block. */
class SwappedModel {
  /** The block of each generation that lives. */
  readonly #living = new Map<number, number | undefined>();
  readonly #models = new Map<number, PlainModel>();

  begin(generation: number, block: number | undefined): void {
    this.#living.set(generation, block);
    const settings = block === undefined ? undefined : BLOCKS[block];
    if (block !== undefined && settings && !this.#models.has(block)) this.#models.set(block, modelOf(settings));
  }

  end(generation: number): void {
    const block = this.#living.get(generation);
    this.#living.delete(generation);
    if (block !== undefined && ![...this.#living.values()].includes(block)) this.#models.delete(block);
  }

  of(generation: number): PlainModel | undefined {
    const block = this.#living.get(generation);
    return block === undefined ? undefined : this.#models.get(block);
  }
}

/** A gateway whose configuration changes under calls that are in flight, step by step beside the model. */
export class Walk {
  readonly #random: () => number;
  readonly #clock: FakeClock = fakeClock();
  readonly #model = new SwappedModel();
  readonly #calls: Call[] = [];
  readonly #host: TestHost;
  readonly #upstream: StubUpstream;
  #current: number;
  swaps = 0;
  /** Reports that reached the circuit of a configuration that no longer served. */
  lateReports = 0;

  private constructor(host: TestHost, upstream: StubUpstream, clock: FakeClock, random: () => number) {
    this.#host = host;
    this.#upstream = upstream;
    this.#clock = clock;
    this.#random = random;
    this.#current = this.#number;
    this.#model.begin(this.#current, undefined);
  }

  static async open(random: () => number): Promise<Walk> {
    const clock = fakeClock();
    const upstream = await stubUpstream(() => {});
    const host = await startHost({ strategy: { mode: 'single' }, targets: [upstream.target('a')] }, { clock });
    return new Walk(host, upstream, clock, random);
  }

  async step(): Promise<void> {
    this.#clock.advance(Math.floor(this.#random() * 30));
    const choice = this.#random();
    if (choice < SWAP_SHARE) await this.#swap();
    else if (choice < 0.55) await this.#admit();
    else if (this.#calls.length > 0) await this.#report();
    this.#compare();
  }

  async finish(): Promise<void> {
    while (this.#calls.length > 0) await this.#report();
    this.#compare();
    expect([this.#host.host.slot.leases, this.#host.host.slot.live]).to.deep.equal([0, 1]);
  }

  get #number(): number {
    return this.#host.host.current?.number ?? expect.fail('nothing serves');
  }

  /** Another block, the same one beside another change, or none. */
  async #swap(): Promise<void> {
    const block = [0, 1, 2, undefined][Math.floor(this.#random() * 4)];
    const left = this.#current;
    const target = { ...(block !== undefined && { circuit_breaker: BLOCKS[block] }), weight: 1 + (this.swaps % 5) };
    await this.#host.apply({ strategy: { mode: 'single' }, targets: [this.#upstream.target('a', target)] });
    this.swaps += 1;
    this.#current = this.#number;
    this.#model.begin(this.#current, block);
    await this.#leave(left);
  }

  async #admit(): Promise<void> {
    const lease = this.#host.host.slot.lease() ?? expect.fail('no lease');
    const { generation } = lease;
    const attempt = { target: generation.targets.get('a'), exchange: { id: 'walk' } } as unknown as Attempt;
    const refusal = await generation.hooks.admit.promise(attempt);
    const model = this.#model.of(generation.number);
    const era = model ? model.admit(this.#clock.monotonic()) : 0;
    expect(refusal?.code).to.equal(era === undefined ? 'upstream_unavailable' : undefined);
    if (era === undefined) {
      settle(lease, attempt, 'ignored'); // refused attempts are settled too
      lease.release();
    } else this.#calls.push({ lease, attempt, model, era, generation: generation.number });
  }

  async #report(): Promise<void> {
    const [call] = this.#calls.splice(Math.floor(this.#random() * this.#calls.length), 1);
    if (!call) return;
    const outcome = OUTCOMES[Math.floor(this.#random() * OUTCOMES.length)] ?? 'ignored';
    if (call.model && call.generation !== this.#current) this.lateReports += 1;
    settle(call.lease, call.attempt, outcome);
    call.model?.report(call.era, outcome, this.#clock.monotonic());
    call.lease.release();
    await this.#leave(call.generation);
  }

  /** A generation that serves no longer ends with its last call. */
  async #leave(generation: number): Promise<void> {
    if (generation !== this.#current && !this.#calls.some((call) => call.generation === generation))
      this.#model.end(generation);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }

  #compare(): void {
    const { current } = this.#host.host;
    expect(current?.hooks.circuit.call('a')).to.equal(this.#model.of(this.#current)?.look(this.#clock.monotonic()));
  }
}

function settle({ generation }: Lease, attempt: Attempt, outcome: Outcome): void {
  attempt.outcome = outcome;
  attempt.error =
    outcome === 'success'
      ? undefined
      : new GatewayError('upstream_error', 'the provider failed', { fault: { kind: 'transport' } });
  generation.hooks.settled.call(attempt);
}
