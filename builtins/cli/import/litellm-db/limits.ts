import { factsOf, type KeyBudget, MOST_BUDGETS, OPENED_BUDGETS } from '../../../../host/common/budgets/key-budget.ts';
import { Windows } from '../../../../host/common/budgets/windows.ts';
import type { NameRules } from '../../../../host/common/accounts/name-rules.ts';
import { type Fields, isFields } from '../../../../host/contract/json/fields.ts';
import { fieldsIn, limitUsd, momentIn, numberIn, spentUsd, textIn, textsIn } from './values.ts';
import { type SourceClock, windowOf } from './windows.ts';

/** Limits as an account or a key has them, and what of a row could not become one. */
export interface FoundLimits {
  readonly limits: SharedLimits;
  /** Names of what restricts, and is not carried. */
  readonly restrictions: readonly string[];
}

export interface SharedLimits {
  readonly budgets?: readonly KeyBudget[];
  readonly rpm?: number;
  readonly tpm?: number;
  readonly max_parallel?: number;
  readonly blocked?: true;
}

export interface LimitsSource {
  readonly row: Fields;
  /** What was spent of the row's budgets. */
  readonly spent: Fields;
  /** What was spent in windows beside that, by their durations. */
  readonly windowSpend?: ReadonlyMap<string, WindowSpend> | undefined;
  readonly clock: SourceClock;
}

export interface WindowSpend {
  readonly startsAt: number;
  readonly usd: number;
}

const MOST_A_MINUTE = 2 ** 31 - 1;
const MOST_PARALLEL = 100_000;

/** What a row of a key, a team, a user or a budget allows. */
export function limitsOf(source: LimitsSource): FoundLimits {
  const { row } = source;
  const found = [mainBudget(source), ...windowBudgets(source), ...modelBudgets(source), dayTokens(source)];
  const budgets = strictest(found.flatMap(({ budget }) => budget ?? []));
  const rates = {
    rpm: rateIn(row, 'rpm_limit', MOST_A_MINUTE),
    tpm: rateIn(row, 'tpm_limit', MOST_A_MINUTE),
    max_parallel: rateIn(row, 'max_parallel_requests', MOST_PARALLEL),
  };
  const isNothing = Object.values(rates).includes(0);
  return {
    limits: {
      ...(budgets.length > 0 && { budgets: budgets.slice(0, MOST_BUDGETS) }),
      ...Object.fromEntries(Object.entries(rates).filter(([, rate]) => rate !== undefined && rate > 0)),
      ...(isNothing && { blocked: true }),
    },
    restrictions: [
      ...found.flatMap(({ restriction }) => restriction ?? []),
      ...(budgets.length > MOST_BUDGETS ? ['budget_limits'] : []),
    ],
  };
}

interface FoundBudget {
  readonly budget?: KeyBudget;
  readonly restriction?: string;
}

function mainBudget({ row, spent, clock }: LimitsSource): FoundBudget {
  const limit = numberIn(row, 'max_budget');
  if (limit === undefined) return {};
  const soft = numberIn(row, 'soft_budget') ?? 0;
  const resetAt = momentIn(row, 'budget_reset_at');
  const duration = textIn(row, 'budget_duration');
  return dollars({
    limit,
    duration,
    resetAt,
    spent: isRunning(duration, resetAt, clock) ? (numberIn(spent, 'spend') ?? 0) : 0,
    clock,
    name: 'budget_duration',
    more: soft > 0 && soft < limit ? { warn: [soft / limit] } : {},
  });
}

/** A window whose end has passed has been begun anew, or will be with the next request. */
const isRunning = (duration: string | undefined, resetAt: number | undefined, { now }: SourceClock): boolean =>
  duration === undefined || resetAt === undefined || resetAt > now;

interface Dollars {
  readonly limit: number;
  readonly duration: string | undefined;
  readonly resetAt: number | undefined;
  readonly spent: number;
  readonly clock: SourceClock;
  /** What the restriction is called where the window cannot be held. */
  readonly name: string;
  readonly more: KeyBudget;
}

function dollars({ limit, duration, resetAt, spent, clock, name, more }: Dollars): FoundBudget {
  const window = windowOf(duration, resetAt, clock);
  if (!window) return { restriction: name };
  const opening = spentUsd(spent);
  const budget: KeyBudget = { usd: limitUsd(limit), ...window, ...more, ...(opening > 0 && { opening }) };
  const { endsAt } = new Windows(factsOf(budget, 'budget', OPENED_BUDGETS).rule).at(clock.now);
  // A window that would begin anew before it does there is wider: the time zone or the hour is another.
  const isEarly = duration !== undefined && resetAt !== undefined && resetAt > clock.now && endsAt < resetAt;
  return { budget, ...(isEarly && { restriction: 'budget_reset_at' }) };
}

/** `budget_limits`: more windows of one key or team. */
function windowBudgets({ row, spent, windowSpend, clock }: LimitsSource): readonly FoundBudget[] {
  const { budget_limits: written } = row;
  if (!Array.isArray(written))
    return written === null || written === undefined ? [] : [{ restriction: 'budget_limits' }];
  return written.map((entry: unknown) => {
    const { limit, duration } = limitIn(entry);
    if (limit === undefined || duration === undefined) return { restriction: 'budget_limits' };
    const resetAt = isFields(entry) ? momentIn(entry, 'reset_at') : undefined;
    const total = numberIn(spent, 'spend') ?? 0;
    const spend = windowSpend ? spendIn(windowSpend.get(duration), duration, clock) : total; // no window holds more than the key has spent
    return dollars({
      limit,
      duration,
      resetAt,
      spent: isRunning(duration, resetAt, clock) ? spend : 0,
      clock,
      name: 'budget_limits',
      more: {},
    });
  });
}

/** Lengths of windows, no shorter than they are. */
const LONGEST_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3.6e6, d: 8.64e7, w: 6.048e8, mo: 2.6784e9 };

function spendIn(known: WindowSpend | undefined, duration: string, { now }: SourceClock): number {
  if (!known) return 0;
  const [, count = '', unit = ''] = /^(\d+)(mo|[mhdw])$/.exec(duration) ?? [];
  const length =
    duration === '30d' ? (LONGEST_MS['mo'] ?? 0) : Number(count) * (LONGEST_MS[unit] ?? Number.POSITIVE_INFINITY);
  return known.startsAt + length > now ? known.usd : 0;
}

function limitIn(entry: unknown): { readonly limit: number | undefined; readonly duration: string | undefined } {
  if (typeof entry === 'number') return { limit: entry, duration: undefined };
  const row = isFields(entry) ? entry : {};
  return {
    limit: numberIn(row, 'max_budget') ?? numberIn(row, 'budget_limit'),
    duration: textIn(row, 'budget_duration') ?? textIn(row, 'time_period'),
  };
}

/** `model_max_budget`: what may be spent on single models. */
function modelBudgets({ row, spent, clock }: LimitsSource): readonly FoundBudget[] {
  const fallbacks = fieldsIn(row, 'budget_fallbacks');
  const modelSpend = fieldsIn(spent, 'model_spend');
  return Object.entries(fieldsIn(row, 'model_max_budget')).map(([model, entry]) => {
    const { limit, duration } = limitIn(entry);
    const isBeside =
      isFields(entry) && [entry['tpm_limit'], entry['rpm_limit']].some((rate) => typeof rate === 'number');
    if (limit === undefined || isBeside || !isPattern(model)) return { restriction: 'model_max_budget' };
    const [use] = textsIn(fallbacks, model);
    const resetAt = momentIn(row, 'budget_reset_at');
    const { budget, restriction } = dollars({
      limit,
      duration,
      resetAt: undefined,
      spent: isRunning(textIn(row, 'budget_duration'), resetAt, clock) ? (numberIn(modelSpend, model) ?? 0) : 0,
      clock,
      name: 'model_max_budget',
      more: { models: [model], ...(use !== undefined && { over: { use, more: 0 } }) },
    });
    return { ...(budget && { budget }), ...(restriction !== undefined && { restriction }) };
  });
}

/** A name, or the beginning of one with a star: what rules of names take. */
const isPattern = (name: string): boolean => name !== '' && name.length <= 2048 && !name.slice(0, -1).includes('*');

function dayTokens({ row, clock }: LimitsSource): FoundBudget {
  const tokens = numberIn(row, 'tpd_limit');
  if (tokens === undefined) return {};
  const limit = Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.floor(tokens)));
  return { budget: { tokens: limit, every: 'day', at: '00:00', timezone: clock.timezone } };
}

/** Whole, and no more than there may be. 0 lets nothing through. */
function rateIn(row: Fields, name: string, most: number): number | undefined {
  const rate = numberIn(row, name);
  return rate === undefined ? undefined : Math.min(most, Math.max(0, Math.floor(rate)));
}

/** Budgets that count the same in the same windows are one: it allows the least of them, and has spent the most. */
export function strictest(budgets: readonly KeyBudget[]): readonly KeyBudget[] {
  const known = new Map<string, KeyBudget>();
  for (const budget of budgets) {
    const { unit, ruleName } = factsOf(budget, 'budget', OPENED_BUDGETS);
    const identity = `${unit} ${ruleName}`;
    const twin = known.get(identity);
    known.set(identity, twin ? joined(twin, budget) : budget);
  }
  return [...known.values()];
}

function joined(one: KeyBudget, other: KeyBudget): KeyBudget {
  const amount = ({ usd, tokens, requests }: KeyBudget): number => usd ?? tokens ?? requests ?? 0;
  const opening = Math.max(one.opening ?? 0, other.opening ?? 0);
  return { ...(amount(other) < amount(one) ? other : one), ...(opening > 0 && { opening }) };
}

/** Both hold. */
export function joinedLimits(one: SharedLimits, other: SharedLimits): SharedLimits {
  const least = (name: 'rpm' | 'tpm' | 'max_parallel'): object => {
    const { [name]: first = Number.POSITIVE_INFINITY } = one;
    const { [name]: second = Number.POSITIVE_INFINITY } = other;
    const rate = Math.min(first, second);
    return Number.isFinite(rate) ? { [name]: rate } : {};
  };
  const budgets = strictest([...(one.budgets ?? []), ...(other.budgets ?? [])]);
  return {
    ...(budgets.length > 0 && { budgets }),
    ...least('rpm'),
    ...least('tpm'),
    ...least('max_parallel'),
    ...((one.blocked || other.blocked) && { blocked: true }),
  };
}

/** Words that stand for models, in lists of them. */
const ALL = 'all-proxy-models';
const OF_TEAM = 'all-team-models';
const NONE = 'no-default-models';
const MOST_MODELS = 1000;

export interface FoundRules {
  readonly rules: NameRules | undefined;
  readonly restrictions: readonly string[];
  /** Names of models that requests may come with. */
  readonly names: readonly string[];
}

/** Which models a list allows: all of them where it is empty. Names with a star within are left out, so that less is allowed. */
export function rulesOf(models: readonly string[]): FoundRules {
  const isAll = models.length === 0 || models.includes(ALL) || models.includes(OF_TEAM) || models.includes('*');
  if (isAll) return { rules: undefined, restrictions: [], names: [] };
  const allow = [...new Set(models)].filter((name) => name !== NONE && isPattern(name));
  if (allow.length > MOST_MODELS) return { rules: { allow: [] }, restrictions: ['models'], names: [] };
  return { rules: { allow }, restrictions: [], names: allow.filter((name) => !name.endsWith('*')) };
}
