import { expect } from 'chai';
import type { Exchange } from 'gw/contract';
import { AskedBudgets } from '../../builtins/money/asked-budgets.ts';
import type { BudgetLevel } from '../../builtins/money/budget-levels.ts';
import { ruleName, Windows } from '../../host/common/budgets/windows.ts';
import { type BudgetFacts, factsOf, type Unit } from '../../host/common/budgets/key-budget.ts';
import { MemoryLedger } from '../../host/state/memory-ledger.ts';
import { madeUpExchange } from '../../host/testing/made-up.ts';
import { cases, Dice } from '../kit/index.ts';

const MINUTE = 60_000;
/** What a turn reserves: the made-up prompt is a token, the longest answer four. */
const RESERVED: Readonly<Record<string, number>> & { readonly usd: number } = { usd: 8, tokens: 5, requests: 1 };
const UNITS: readonly Unit[] = ['usd', 'tokens', 'requests'];

const reservedOf = (name: string): number => RESERVED[name.split('|')[1] ?? ''] ?? 0;

interface Call {
  readonly exchange: Exchange;
  /** Micro-dollars and tokens that its turns used. */
  used: number;
  /** What was used when its last turn was granted. */
  granted: number;
  turns: number;
  /** Names of the budgets it pays. */
  readonly names: readonly string[];
}

/** A world with one key, its account and its tags: random budgets, calls that begin, take turns and end at random, and a clock that jumps. */
class World {
  readonly dice: Dice;
  readonly levels: readonly BudgetLevel[];
  readonly ledger = new MemoryLedger({ maxKeys: 0 });
  readonly spending: AskedBudgets;
  readonly open = new Set<Call>();
  /** What was used, by name. */
  readonly truth = new Map<string, number>();
  /** What calls used beyond what they had reserved, and the largest reservation, by name. */
  readonly excess = new Map<string, number>();
  readonly largest = new Map<string, number>();
  now = 1_800_000_000_000;

  constructor(seed: number) {
    this.dice = new Dice(seed);
    const prefixes = ['k:id', 'a:/acme/search', 'a:/acme', 't:nightly'].slice(0, 1 + this.dice.below(4));
    this.levels = prefixes.map((prefix) => ({
      owner: { kind: 'account', id: prefix, name: prefix, prefix, series: prefix },
      budgets: this.#budgets(),
    }));
    this.spending = new AskedBudgets({
      ledger: this.ledger,
      pricing: { expected: () => RESERVED.usd, reported: ({ charged }) => charged?.prompt_tokens ?? 0 },
      prices: { longestAnswer: () => 4, longestContext: () => 1 },
      now: () => this.now,
    });
  }

  #budgets(): readonly BudgetFacts[] {
    const made = Array.from({ length: 1 + this.dice.below(3) }, (_each, at) => ({
      [this.dice.pick(UNITS)]: this.dice.below(60),
      every: this.dice.pick(['total', `${at + 1}m`, `${at + 7}m`]),
      overrun: this.dice.pick(['one', 'none']),
    })).map((budget) => factsOf(budget, 'budget'));
    return made.filter(
      ({ unit, rule }, at) =>
        made.findIndex((other) => other.unit === unit && ruleName(other.rule) === ruleName(rule)) === at,
    );
  }

  #all(): (readonly [begin: string, facts: BudgetFacts])[] {
    return this.levels.flatMap(({ owner, budgets }) =>
      budgets.map((facts) => [[owner.prefix, facts.unit, ruleName(facts.rule)].join('|'), facts] as const),
    );
  }

  namesNow(): string[] {
    return this.#all().map(([begin, { rule }]) => `${begin}|${new Windows(rule).at(this.now).name}`);
  }

  factsOf(name: string): BudgetFacts {
    return this.#all().find(([begin]) => name.startsWith(`${begin}|`))![1];
  }

  /** A second reading of the rule, by what calls in flight hold and others have used. */
  isGranted(name: string): boolean {
    const { limit, overrun } = this.factsOf(name);
    let taken = this.truth.get(name) ?? 0;
    for (const call of this.open)
      if (call.names.includes(name)) taken += (name.includes('|requests|') ? 0 : call.granted) + reservedOf(name);
    return overrun === 'none' ? taken + reservedOf(name) <= limit : taken < limit;
  }

  step(): void {
    if (this.dice.below(4) === 0) this.now += this.dice.below(20 * MINUTE) - 8 * MINUTE;
    const some = this.dice.pick([...this.open, undefined]);
    const what = this.dice.pick(['begin', 'begin', 'turn', 'end', 'end'] as const);
    if (!some || what === 'begin') this.begin();
    else if (what === 'turn') this.turn(some);
    else this.end(some);
  }

  begin(): void {
    const names = this.namesNow();
    const before = names.map((name) => [this.ledger.committed(name), this.ledger.reserved]);
    const exchange = madeUpExchange({ request: { model: 'm', messages: [] } as never });
    const first = names.find((name) => !this.isGranted(name));
    const denial = this.spending.admit(exchange, this.levels);
    expect(denial instanceof Promise ? 'late' : denial?.budget.name).to.equal(first);
    if (denial) {
      expect(names.map((name) => [this.ledger.committed(name), this.ledger.reserved])).to.deep.equal(before);
      this.spending.finish(exchange);
      return;
    }
    const call = { exchange, used: 0, granted: 0, turns: 1, names };
    this.open.add(call);
    this.granted(call);
  }

  use(call: Call): void {
    call.used += this.dice.below(12);
    const charged = { prompt_tokens: call.used, completion_tokens: 0, total_tokens: call.used };
    Object.assign(call.exchange, { charged, attempts: call.turns });
  }

  turn(call: Call): void {
    this.use(call);
    if (this.spending.admit(call.exchange, this.levels)) this.close(call);
    else this.granted(call);
  }

  granted(call: Call): void {
    call.turns += 1;
    call.granted = call.used;
    for (const name of call.names)
      this.largest.set(name, Math.max(this.largest.get(name) ?? 0, call.used + reservedOf(name)));
  }

  end(call: Call): void {
    this.use(call);
    this.close(call);
  }

  close(call: Call): void {
    this.spending.finish(call.exchange);
    this.spending.finish(call.exchange);
    this.open.delete(call);
    for (const name of call.names) {
      const amount = name.includes('|requests|') ? 1 : call.used;
      this.truth.set(name, (this.truth.get(name) ?? 0) + amount);
      this.excess.set(name, (this.excess.get(name) ?? 0) + Math.max(0, amount - call.granted - reservedOf(name)));
    }
  }
}

describe('budgets of a key, its account and its tags under any interleaving', () => {
  for (let seed = 1; seed <= cases(200); seed += 1)
    it(`book in each window what was admitted in it, once, and hold nothing at the end: seed ${seed}`, () => {
      const world = new World(seed);
      for (let step = 0; step < 300; step += 1) world.step();
      for (const call of world.open) world.end(call);
      expect(world.ledger.reserved).to.equal(0);
      for (const [name, used] of world.truth) {
        expect(world.ledger.committed(name), name).to.equal(used);
        const { limit, overrun } = world.factsOf(name);
        if (name.includes('|requests|')) expect(used, name).to.be.at.most(limit);
        else if (overrun === 'none') expect(used, name).to.be.at.most(limit + (world.excess.get(name) ?? 0));
        else expect(used, name).to.be.at.most(limit + (world.largest.get(name) ?? 0) + (world.excess.get(name) ?? 0));
      }
    });
});
