import {
  type Exchange,
  ExchangeNote,
  type Ledger,
  type Pricing,
  type Refusal,
  type Reservation,
} from '../../host/contract/index.ts';
import { matchesPattern } from '../../host/common/accounts/name-rules.ts';
import type { Unit } from '../../host/common/budgets/key-budget.ts';
import type { CallPrices } from '../../host/generation/call-prices.ts';
import type { BudgetLevel } from './budget-levels.ts';
import type { BudgetWarnings } from './budget-warnings.ts';
import { CallAmounts } from './call-amounts.ts';
import type { CallLimits } from './call-bound.ts';
import { endOf, isOfSession, ofSession } from './session-budgets.ts';
import { beyond, type OpenBudget, OpenBudgets, type Raises } from './open-budgets.ts';

/** What a request holds while it is in flight, of each budget in their order. */
interface Held {
  readonly open: readonly OpenBudget[];
  readonly reservations: readonly Reservation[];
  /** How often it has asked: more than once where its answer calls for tools. */
  readonly turn: number;
}

/** One round of asking all budgets. */
interface Round {
  readonly exchange: Asking;
  readonly open: readonly OpenBudget[];
  readonly earlier: Held | undefined;
  readonly running: Amounts;
  readonly got: Reservation[];
}

/** A request, of which it may be known that it costs nothing. */
type Asking = Exchange & { readonly routing?: { readonly isFree: boolean } };

/** What a request used so far, in each unit. */
type Amounts = Readonly<Record<Unit, number>>;

/** The budget that denied a request, what is booked and held in it, and what the request asked for; nothing where that has no bound. */
export interface Denial {
  readonly budget: OpenBudget;
  readonly committed: number;
  readonly reserved: number;
  readonly amount: number | undefined;
}

type Decision = Denial | undefined;

/** What is booked, and what calls in flight hold. */
interface Sum {
  readonly committed: number;
  readonly reserved: number;
}

/** What a budget would say to a request. */
export interface Looked extends Denial {
  readonly isGranted: boolean;
}

export interface AskedBudgetsDeps {
  readonly ledger: Ledger;
  /** Keeps what sessions spend; the other one where it is not said. */
  readonly sessions?: Ledger;
  readonly pricing: Pricing;
  readonly prices: CallLimits & Partial<Pick<CallPrices, 'dearest' | 'isFree'>>;
  readonly now: () => number;
  readonly raises?: Raises | undefined;
  readonly warnings?: BudgetWarnings | undefined;
}

const NOTHING: Amounts = { usd: 0, tokens: 0, requests: 0 };

/**
 * Spends from all budgets that bind a request at once: all of them grant it, or none of them holds anything for it. The windows are those of the moment at
 * which it was admitted, to its end.
 */
export class AskedBudgets {
  readonly #deps: AskedBudgetsDeps;
  readonly #windows: OpenBudgets;
  readonly #inFlight = new ExchangeNote<Held>();

  constructor(deps: AskedBudgetsDeps) {
    this.#deps = deps;
    this.#windows = new OpenBudgets(() => deps.raises);
  }

  /** Whether a request has been granted, and is in flight. */
  holds(exchange: Exchange): boolean {
    return this.#inFlight.get(exchange) !== undefined;
  }

  /**
   * Before each turn of a request. Gives the first budget that denies it; a promise only where the ledger takes one. Of those that are
   * `passed`, by name, what may be spent beyond them is asked.
   */
  admit(
    exchange: Asking,
    levels: readonly BudgetLevel[],
    passed?: ReadonlyMap<string, unknown>,
  ): Decision | Promise<Decision> {
    const earlier = this.#inFlight.take(exchange);
    const open = earlier?.open ?? countingFor(exchange.model, this.#open(exchange, levels), passed);
    earlier?.open.forEach(({ unit }, at) => {
      if (unit !== 'requests') earlier.reservations[at]?.release();
    });
    const running = earlier ? this.#used(exchange) : NOTHING;
    return this.#reserve({ exchange, open, earlier, running, got: [] });
  }

  /** What each budget would say, in the order in which they are asked; nothing is held. Of those that are `passed`, what may be spent beyond them. */
  look(
    exchange: Asking,
    levels: readonly BudgetLevel[],
    peek: (budget: OpenBudget) => Sum,
    passed?: ReadonlyMap<string, unknown>,
  ): readonly Looked[] {
    const amounts = new CallAmounts(exchange, this.#deps);
    return countingFor(exchange.model, this.#open(exchange, levels), passed).map((budget) => {
      const amount = amounts.of(budget);
      const { committed, reserved } = peek(budget);
      const isGranted = fits(budget, committed + reserved, amount) || this.#isFree(exchange, budget);
      return { budget, committed, reserved, amount, isGranted };
    });
  }

  #open(exchange: Exchange, levels: readonly BudgetLevel[]): readonly OpenBudget[] {
    return ofSession(this.#windows.at(this.#deps.now(), levels), exchange);
  }

  #ledgerOf(budget: OpenBudget): Ledger {
    return (isOfSession(budget) ? this.#deps.sessions : undefined) ?? this.#deps.ledger;
  }

  /** The end of a request, as `Spending.finish` says; a request that reached a provider, or that a plugin answered, counts as one. */
  finish(exchange: Exchange): void {
    const held = this.#inFlight.take(exchange);
    if (!held) return;
    const { charged, streaming, answeredBy, measurements } = exchange;
    const isUsed = charged !== undefined || measurements.costUsd !== undefined;
    const isDelivered = streaming && measurements.ttftMs !== undefined;
    const isBilled = isUsed && (isDelivered || answeredBy === undefined || held.turn > 1);
    const isCounted = answeredBy !== undefined || exchange.attempts > 0 || isUsed;
    const used = this.#used(exchange);
    held.open.forEach((budget, at) => {
      const reservation = held.reservations[at];
      if (budget.unit === 'requests' ? isCounted : isBilled) this.#settle(exchange, budget, used, reservation);
      else reservation?.release();
    });
  }

  /** Where the provider goes on by itself, the booking is noted, to be corrected later. */
  #settle(exchange: Exchange, budget: OpenBudget, used: Amounts, reservation: Reservation | undefined): void {
    const { name, unit, warn } = budget;
    const amount = used[unit];
    if (warn.length > 0) this.#deps.warnings?.watch(budget);
    if (unit !== 'requests')
      exchange.later?.add({ ledger: this.#ledgerOf(budget).name ?? '', key: name, amount, unit });
    void reservation?.settle(amount);
  }

  #reserve(round: Round): Decision | Promise<Decision> {
    const { exchange, open, earlier, got } = round;
    const amounts = new CallAmounts(exchange, this.#deps);
    for (let budget = open[got.length]; budget; budget = open[got.length]) {
      const kept = budget.unit === 'requests' ? earlier?.reservations[got.length] : undefined; // a request is one, however many turns it takes
      const asked = kept ? 1 : amounts.of(budget);
      const isUnbound = asked === undefined && !this.#isFree(exchange, budget);
      if (isUnbound) return this.#denied(round, { isGranted: false, committed: 0 }, undefined);
      const answer = kept ?? this.#askOrThrow(round, budget, asked ?? 0);
      if (answer instanceof Promise) return this.#later(round, answer, asked ?? 0);
      const denial = this.#decide(round, answer, asked ?? 0);
      if (denial) return denial;
    }
    this.#inFlight.put(exchange, { open, reservations: got, turn: (earlier?.turn ?? 0) + 1 });
    return undefined;
  }

  /** The client may have left meanwhile, and the end of its request be over. */
  async #later(round: Round, answer: Promise<Reservation | Refusal>, asked: number): Promise<Decision> {
    const late = await answer.catch((error: unknown) => this.#failed(round, error));
    const decision = this.#decide(round, late, asked) ?? (await this.#reserve(round));
    if (round.exchange.signal.aborted && !decision) this.finish(round.exchange);
    return decision;
  }

  #askOrThrow(round: Round, budget: OpenBudget, asked: number): Reservation | Refusal | Promise<Reservation | Refusal> {
    try {
      return this.#ask(budget, round.running, asked);
    } catch (error) {
      return this.#failed(round, error);
    }
  }

  /** The ledger cannot decide: nothing stays held. */
  #failed(round: Round, error: unknown): never {
    this.#denied(round, { isGranted: false, committed: 0 });
    throw error;
  }

  #ask(budget: OpenBudget, running: Amounts, asked: number): Reservation | Refusal | Promise<Reservation | Refusal> {
    const { name, unit, limit, overrun } = budget;
    return this.#ledgerOf(budget).reserve(name, {
      amount: running[unit] + asked,
      limit,
      running: running[unit],
      isWhole: overrun === 'none',
      endsAt: endOf(budget, this.#deps.now()),
    });
  }

  #decide(round: Round, answer: Reservation | Refusal, asked: number): Decision {
    if (answer.isGranted) {
      round.got.push(answer);
      return undefined;
    }
    const budget = round.open[round.got.length];
    if (!budget || !this.#isFree(round.exchange, budget)) return this.#denied(round, answer, asked);
    round.got.push(unheld(this.#ledgerOf(budget), budget.name));
    return undefined;
  }

  /** Whether a call is known to cost nothing, in a budget of dollars: it is looked for only where such a budget is spent. */
  #isFree(exchange: Asking, { unit }: OpenBudget): boolean {
    return unit === 'usd' && (exchange.routing?.isFree === true || this.#deps.prices.isFree?.(exchange) === true);
  }

  /** Nothing stays held where one denies; what the turns before it used is booked. */
  #denied({ open, earlier, running, got }: Round, { committed, reserved = 0 }: Refusal, asked?: number): Decision {
    const budget = open[got.length];
    got.forEach((reservation, at) => {
      if (open[at]?.unit !== 'requests' || !earlier) reservation.release();
    });
    if (earlier) this.#bookTurns(earlier, running);
    return budget && { budget, committed, reserved, amount: asked };
  }

  #bookTurns({ open, reservations }: Held, running: Amounts): void {
    open.forEach((budget, at) => {
      const { unit, name } = budget;
      if (unit === 'requests') void reservations[at]?.settle(1);
      else if (running[unit] > 0) void this.#ledgerOf(budget).commit(name, running[unit]);
    });
  }

  #used(exchange: Exchange): Amounts {
    const { prompt_tokens: prompt = 0, completion_tokens: completion = 0 } = exchange.charged ?? {};
    return { usd: this.#deps.pricing.reported(exchange), tokens: prompt + completion, requests: 1 };
  }
}

/** Holds nothing of a budget that is spent. What the call costs all the same is booked. */
const unheld = (ledger: Ledger, key: string): Reservation => ({
  isGranted: true,
  settle: (amount) => (amount > 0 ? ledger.commit(key, amount) : undefined),
  release: () => {},
});

/** As a ledger decides. */
function fits({ limit, overrun }: OpenBudget, taken: number, amount: number | undefined): boolean {
  if (amount === undefined) return false;
  return overrun === 'none' ? taken + amount <= limit : taken < limit;
}

/** Those that count a model: a budget may be for some of them only. */
function countingFor(
  model: string,
  open: readonly OpenBudget[],
  passed?: ReadonlyMap<string, unknown>,
): readonly OpenBudget[] {
  if (passed)
    return open.flatMap((budget) => (passed.has(budget.name) ? beyond(budget) : countingFor(model, [budget])));
  const counts = ({ models }: OpenBudget): boolean =>
    models === undefined || models.some((pattern) => matchesPattern(pattern, model));
  return open.every(counts) ? open : open.filter(counts);
}
