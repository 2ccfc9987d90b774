/**
 * Cost of the books on the path of a request: `node test/bench/money.ts`. Asking eight budgets and settling them, over four levels; the rates of
 * as many; and the row of spend.
 */
import { fileURLToPath } from 'node:url';
import { KeyRates } from '../../builtins/auth/key-rates.ts';
import { AskedBudgets } from '../../builtins/money/asked-budgets.ts';
import type { BudgetLevel } from '../../builtins/money/budget-levels.ts';
import { SpendRows } from '../../builtins/money/spend-rows.ts';
import { factsOf } from '../../host/common/budgets/key-budget.ts';
import type { Level } from '../../host/common/accounts/level.ts';
import { systemClock } from '../../host/common/clock.ts';
import { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import { MemoryLedger } from '../../host/state/memory-ledger.ts';
import { OpenSpend } from '../../host/stores/spend/open-spend.ts';

const ROUNDS = 7;
const REQUESTS = 20_000;
const OWNERS = ['k:id', 'a:/acme/search', 'a:/acme', 't:nightly'] as const;

export interface MoneyCost {
  readonly name: string;
  /** Microseconds of processor time of the best round, for one request. */
  readonly us: number;
}

/** Each of four owners has one in dollars for a month, and one in tokens for a day. */
const levels: readonly BudgetLevel[] = OWNERS.map((prefix) => ({
  owner: { kind: 'account', id: prefix, name: prefix, prefix, series: prefix },
  budgets: [factsOf({ usd: 1e8, every: 'month' }, 'budget'), factsOf({ tokens: 1e12, every: 'day' }, 'budget')],
}));

const exchangeOf = (at: number): LiveExchange =>
  new LiveExchange({
    id: `x${at}`,
    surface: 'chat',
    clock: systemClock,
    principal: undefined,
    limits: { account: '/acme/search', tags: TAGS },
    metadata: {},
    request: { model: `m${at % 8}`, messages: [{ role: 'user', content: 'hi' }] },
    streaming: false,
    arrivedAt: 0,
  });

const TAGS = ['nightly', 'project=red'];

function best(name: string, run: (at: number) => void): MoneyCost {
  let us = Infinity;
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = process.cpuUsage();
    for (let at = 0; at < REQUESTS; at += 1) run(at);
    const { user, system } = process.cpuUsage(before);
    us = Math.min(us, (user + system) / REQUESTS);
  }
  return { name, us };
}

function eightBudgets(exchanges: readonly LiveExchange[]): MoneyCost {
  const spending = new AskedBudgets({
    ledger: new MemoryLedger({ maxKeys: 0 }),
    pricing: { expected: () => 100, reported: () => 90 },
    prices: { longestAnswer: () => 1000, longestContext: () => undefined },
    now: systemClock.now,
  });
  return best('eight budgets of four levels, asked and settled', (at) => {
    const exchange = exchanges[at]!.view;
    const denial = spending.admit(exchange, levels);
    if (denial) throw new Error('a budget is spent, so this measures nothing');
    spending.finish(exchange);
  });
}

function eightRates(): MoneyCost {
  const rates = new KeyRates();
  const none: Omit<Level, 'path' | 'budgetId' | 'rpm' | 'tpm'> = {
    kind: 'account',
    blocked: false,
    budgets: [],
    sessionBudgets: [],
    maxParallel: undefined,
    models: undefined,
    providers: undefined,
    unpriced: undefined,
    requiredTags: [],
    pattern: undefined,
  };
  const limits = {
    rpm: 1e9,
    tpm: 1e9,
    levels: OWNERS.slice(1).map((path) => ({ ...none, path, budgetId: path, rpm: 1e9, tpm: 1e9 })),
  };
  return best('eight rates of four levels, taken and debited', (at) => {
    if (rates.refusal('id', limits, at)) throw new Error('a rate is used up, so this measures nothing');
    rates.debit('id', limits, 100, at);
  });
}

function spendRows(exchanges: readonly LiveExchange[]): MoneyCost {
  const [rows, open] = [new SpendRows(), new OpenSpend(() => {})];
  return best('row of spend, made and added', (at) => open.add(rows.of(exchanges[at]!)));
}

export function moneyCosts(): readonly MoneyCost[] {
  const exchanges = Array.from({ length: REQUESTS }, (_each, at) => exchangeOf(at));
  return [eightBudgets(exchanges), eightRates(), spendRows(exchanges)];
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const { name, us } of moneyCosts()) process.stdout.write(`${us.toFixed(2)} us  ${name}\n`);
