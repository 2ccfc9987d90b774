/** The states of credentials against a model that was written from the promises alone. */
import { expect } from 'chai';
import type { GatewayError } from '../../../host/contract/index.ts';
import type { CredentialPool } from '../../../host/upstream/credentials/credential-pool.ts';
import { Visit } from '../../../host/pipeline/credentials/visit.ts';
import { cases, Dice } from '../../kit/index.ts';
import type { Credential } from '../../../host/upstream/instance.ts';
import { type Call, credentialOf, failure, type Mutable, PoolWorld } from './pool-world.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const MODELS = ['m', 'n'] as const;
const NAMES = ['a', 'b', 'c'] as const;

/** What ends a call, and the class that it has where the credential has not served of late. */
const ENDS: readonly (readonly [name: string, make: () => GatewayError | undefined, hintMs?: number])[] = [
  ['ok', () => undefined],
  ['rate', () => failure({ status: 429 })],
  ['rate', () => failure({ status: 429 }, 20 * SECOND), 20 * SECOND],
  ['rate', () => failure({ status: 429 }, 10 * MINUTE), 10 * MINUTE],
  ['billing', () => failure({ status: 429 }, 20 * MINUTE), 20 * MINUTE],
  ['billing', () => failure({ status: 402, reason: 'billing' })],
  ['none', () => failure({ status: 402, reason: 'billing', ofRequest: true })],
  ['401', () => failure({ status: 401, reason: 'key' })],
  ['401', () => failure({ status: 401, reason: 'key' }, 90 * SECOND), 90 * SECOND],
  ['no_access', () => failure({ status: 403, reason: 'key' })],
  ['no_access', () => failure({ status: 404, reason: 'model_access' })],
  ['none', () => failure({ status: 500 })],
  ['none', () => failure({ status: 400, reason: 'content_policy' })],
];

interface Known {
  value: number;
  servedAt: number;
  bench: { class: string; wait: number; at: number; probe: number | undefined } | undefined;
  rests: Map<string, number>;
  denied: Map<string, number>;
  counts: Map<string, number>;
}

const fresh = (value: number): Known => ({
  value,
  servedAt: -Infinity,
  bench: undefined,
  rests: new Map(),
  denied: new Map(),
  counts: new Map(),
});

/** Written from docs/reference/credentials.md, without a look at the code. */
class Model {
  now = 0;
  #probes = 0;
  readonly known = new Map<string, Known>(NAMES.map((name) => [name, fresh(1)]));

  of(name: string): Known {
    return this.known.get(name) as Known;
  }

  read(name: string, model: string): string {
    const { bench, rests, denied } = this.of(name);
    if (bench || (denied.get(model) ?? 0) > this.now) return 'benched';
    return (rests.get(model) ?? 0) > this.now ? 'resting' : 'ready';
  }

  isDue(name: string, model: string): boolean {
    const { bench, rests, denied } = this.of(name);
    const isKept = (rests.get(model) ?? 0) > this.now || (denied.get(model) ?? 0) > this.now;
    return bench !== undefined && bench.at <= this.now && bench.probe === undefined && !isKept;
  }

  /** The credentials that may be called. */
  mayBe(model: string, tried: readonly string[]): readonly string[] {
    const left = NAMES.filter((name) => !tried.includes(name));
    const due = left.filter((name) => this.isDue(name, model));
    if (due.length > 0) return due.slice(0, 1);
    const ready = left.filter((name) => this.read(name, model) === 'ready');
    if (ready.length > 0) return ready;
    const resting = left.filter((name) => this.read(name, model) === 'resting');
    const first = Math.min(...resting.map((name) => this.of(name).rests.get(model) ?? 0));
    return resting.filter((name) => this.of(name).rests.get(model) === first);
  }

  begin(name: string, model: string): number | undefined {
    const { bench } = this.of(name);
    if (!bench || !this.isDue(name, model)) return undefined;
    this.#probes += 1;
    bench.probe = this.#probes;
    return bench.probe;
  }

  /** `refused`: credentials of the same request that had no access before. */
  end(
    { name, model, value, probe }: { name: string; model: string; value: number; probe: number | undefined },
    [end, , hintMs]: readonly [string, unknown, number?],
    refused: { name: string; value: number }[],
  ): void {
    const known = this.of(name);
    const isPresent = known.value === value;
    const isServed = this.now - known.servedAt <= MINUTE && isPresent;
    const why = end === '401' ? (isServed ? 'no_access' : 'invalid_key') : end;
    if (end === 'ok')
      for (const other of refused) {
        if (other.name === name || this.of(other.name).value !== other.value) continue;
        const counts = this.of(other.name).counts;
        counts.set(model, (counts.get(model) ?? 0) + 1);
        if ((counts.get(model) ?? 0) < 3 || (this.of(other.name).denied.get(model) ?? 0) > this.now) continue;
        this.of(other.name).denied.set(model, this.now + 10 * MINUTE);
        counts.set(model, 0);
      }
    if (why === 'no_access') refused.push({ name, value });
    if (!isPresent) return;
    const isProbe = probe !== undefined && known.bench?.probe === probe;
    if (end === 'ok') {
      known.servedAt = this.now;
      if (isProbe) Object.assign(known, { bench: undefined, rests: new Map(), denied: new Map(), counts: new Map() });
      known.rests.delete(model);
      known.counts.delete(model);
    } else if (why === 'rate') {
      known.rests.set(model, this.now + Math.min(Math.max(hintMs ?? 5 * SECOND, SECOND), 10 * MINUTE));
    } else if (why === 'billing' || why === 'invalid_key') {
      if (isProbe && known.bench) {
        known.bench.wait = Math.min(Math.max(2 * known.bench.wait, 20 * MINUTE), 60 * MINUTE);
        known.bench.at = this.now + known.bench.wait;
      }
      if (!known.bench) {
        const wait = Math.min(Math.max(hintMs ?? 10 * MINUTE, SECOND), 60 * MINUTE);
        known.bench = { class: why, wait, at: this.now + wait, probe: undefined };
      }
    }
    if (isProbe && known.bench) known.bench.probe = undefined;
  }
}

interface Running {
  readonly call: Call;
  readonly visit: Visit;
  readonly routing: object;
  readonly refused: { name: string; value: number }[];
  readonly at: {
    readonly name: string;
    readonly model: string;
    readonly value: number;
    readonly probe: number | undefined;
  };
}

class Run {
  readonly #dice: Dice;
  readonly #world: PoolWorld;
  readonly #model = new Model();
  readonly #running: Running[] = [];
  /** The credentials of all configurations. */
  readonly #all: Mutable<Credential>[];

  constructor(seed: number) {
    this.#dice = new Dice(seed);
    this.#world = new PoolWorld(
      NAMES.map((name) => credentialOf(name)),
      () => this.#dice.below(1000) / 1000,
    );
    this.#all = [...this.#world.credentials];
  }

  step(): void {
    const at = this.#dice.below(12);
    if (at < 4) this.#begin(this.#dice.pick(MODELS), new Visit(), {}, [], this.#world.pool);
    else if (at < 9) this.#end();
    else if (at === 9) this.#refresh();
    else if (at === 10) this.#swap();
    else
      this.#pass(this.#dice.pick([100, 4 * SECOND, 59 * SECOND, 61 * SECOND, 10 * MINUTE, 21 * MINUTE, 61 * MINUTE]));
    this.#compare();
  }

  #begin(
    model: string,
    visit: Visit,
    routing: object,
    refused: { name: string; value: number }[],
    pool: CredentialPool,
  ): void {
    const tried = visit.tried.map(({ name }) => name);
    const allowed = this.#model.mayBe(model, tried);
    const call = this.#world.begin(model, visit, routing, pool);
    if (typeof call === 'string') {
      expect(allowed, call).to.deep.equal([]);
      return;
    }
    const { name } = call.used.entry.credential;
    expect(allowed).to.include(name);
    const value = this.#model.of(name).value;
    const probe = this.#model.begin(name, model);
    expect(call.used.probe !== undefined, 'a probe').to.equal(probe !== undefined);
    this.#running.push({ call, visit, routing, refused, at: { name, model, value, probe } });
  }

  #end(): void {
    const [running] = this.#running.splice(this.#dice.below(this.#running.length || 1), 1);
    if (!running) return;
    const end = this.#dice.pick(ENDS);
    const { call, visit, routing, refused, at } = running;
    this.#world.end(call, end[1]());
    this.#model.end(at, end, refused);
    if (visit.next) this.#begin(at.model, visit, routing, refused, call.used.pool);
  }

  #swap(): void {
    const copies = this.#world.credentials.map((each) => ({ ...each }));
    this.#all.push(...copies);
    this.#world.swap(copies);
  }

  #refresh(): void {
    const name = this.#dice.pick(NAMES);

    const value = this.#model.of(name).value + 1;
    this.#pass(1); // a value is read at a time of its own
    // An earlier configuration that still ends its requests learns of it too.
    for (const credential of this.#all)
      if (credential.name === name) Object.assign(credential, { digest: `${name}-${value}`, takenAt: this.#model.now });
    this.#model.known.set(name, fresh(value));
  }

  #pass(ms: number): void {
    this.#world.clock.advance(ms);
    this.#model.now += ms;
  }

  #compare(): void {
    for (const name of NAMES)
      for (const model of MODELS)
        expect(this.#world.read(name, model), `${name} ${model}`).to.equal(this.#model.read(name, model));
  }
}

describe('states of credentials', () => {
  it('are those of a model, over random ends of calls, tries, new values, configurations and time', function () {
    this.timeout(60_000);
    for (let seed = 0; seed < cases(10_000); seed += 1) {
      const run = new Run(seed);
      try {
        for (let step = 0; step < 40; step += 1) run.step();
      } catch (cause) {
        throw new Error(`seed ${seed}`, { cause });
      }
    }
  });
});
