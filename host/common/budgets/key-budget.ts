import { quoted } from '../../contract/index.ts';
import { parseDuration } from '../../contract/duration.ts';
import { type BudgetConditions, conditionsOf, modelsName } from './budget-conditions.ts';
import { BudgetProblem } from './budget-problem.ts';
import { ruleName, WEEKDAYS, type WindowRule } from './windows.ts';
import { isZone } from './zone.ts';

/** A budget as it is written and shown. See docs/reference/budgets.md. */
export interface KeyBudget {
  readonly usd?: number;
  readonly tokens?: number;
  readonly requests?: number;
  readonly every?: string;
  readonly at?: string;
  readonly on?: string | number;
  readonly timezone?: string;
  readonly from?: string;
  readonly reserve_tokens?: number;
  readonly models?: readonly string[];
  readonly warn?: readonly number[];
  readonly overrun?: 'one' | 'none';
  readonly over?: { readonly use: string; readonly more: number };
  readonly opening?: number;
}

export const UNITS = ['usd', 'tokens', 'requests'] as const;
export type Unit = (typeof UNITS)[number];

/** A budget as it is reckoned. */
export interface BudgetFacts extends BudgetConditions {
  readonly unit: Unit;
  /** Micro-dollars, tokens or requests. */
  readonly limit: number;
  readonly rule: WindowRule;
  /** The rule with the models, as it stands in names of what is counted. With the unit it tells a budget from the others beside it. */
  readonly ruleName: string;
  readonly reserveTokens: number | undefined;
}

export const MOST_BUDGETS = 16;
const MOST_USD = 1e9;
const MICRO = 1e6;
const MINUTE_MS = 60_000;
const MOST_MINUTES = 87_600 * 60;
const OF_KEYS = [
  ...UNITS,
  'every',
  'at',
  'on',
  'timezone',
  'from',
  'reserve_tokens',
  'warn',
  'overrun',
  'over',
  'models',
] as const;

/** What is asked of budgets in one place. */
export interface BudgetReading {
  readonly members: ReadonlySet<string>;
  /** The time zone of those that name none. */
  readonly timezone: string;
}

/** Budgets of keys. What admission does not hold is refused. */
export const KEY_BUDGETS: BudgetReading = { members: new Set<string>(OF_KEYS), timezone: 'UTC' };
/** Budgets of accounts and tags. They refuse what admission does not hold, too. */
export const ACCOUNT_BUDGETS: BudgetReading = KEY_BUDGETS;
/** Budgets that say what was spent already, where they are made. */
export const OPENED_BUDGETS: BudgetReading = { members: new Set<string>([...OF_KEYS, 'opening']), timezone: 'UTC' };

const CIVIL = new Set(['day', 'week', 'month']);
const CLOCK = /^([01]\d|2[0-3]):([0-5]\d)$/;
const MOMENT = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

type Written = Readonly<Record<string, unknown>>;

/** Reads budgets out of JSON. Throws a `BudgetProblem`. */
export function readBudgets(value: unknown, name = 'budgets', reading = KEY_BUDGETS): readonly KeyBudget[] {
  if (!Array.isArray(value)) throw new BudgetProblem('CV82', `${name} must be a list of budgets, not ${quoted(value)}`);
  if (value.length > MOST_BUDGETS)
    throw new BudgetProblem('CV86', `${name} has ${value.length} entries, the limit is ${MOST_BUDGETS}`);
  const known = new Map<string, number>();
  value.forEach((budget: unknown, at) => {
    const path = `${name}[${at}]`;
    const facts = factsOf(budget, path, reading);
    const identity = `${facts.unit} ${facts.ruleName}`;
    const twin = known.get(identity);
    if (twin !== undefined)
      throw new BudgetProblem(
        'CV83',
        `${path} counts what ${name}[${twin}] counts, in the same windows; leave one of them out`,
      );
    known.set(identity, at);
  });
  return value as readonly KeyBudget[];
}

/** Reads the budgets of `session`: it holds nothing else. Throws a `BudgetProblem`. */
export function readSessionBudgets(value: unknown, name: string, reading = KEY_BUDGETS): readonly KeyBudget[] {
  const { budgets, ...others } = (typeof value === 'object' && value !== null ? value : {}) as Written;
  if (budgets === undefined || Object.keys(others).length > 0)
    throw new BudgetProblem('CV80', `${name} must have budgets and nothing else, such as {"budgets": [{"usd": 1}]}`);
  return readBudgets(budgets, `${name}.budgets`, reading);
}

/** What a budget comes to. Throws a `BudgetProblem`. */
export function factsOf(written: unknown, path: string, reading = KEY_BUDGETS): BudgetFacts {
  if (typeof written !== 'object' || written === null || Array.isArray(written))
    throw new BudgetProblem(
      'CV82',
      `${path} must be a budget such as {"usd": 50, "every": "day"}, not ${quoted(written)}`,
    );
  const budget = written as Written;
  const unknown = Object.keys(budget).find((name) => !reading.members.has(name));
  if (unknown !== undefined)
    throw new BudgetProblem(
      'CV80',
      `${path} has no member ${quoted(unknown)}; its members are ${[...reading.members].join(', ')}`,
    );
  const [unit, ...others] = UNITS.filter((each) => budget[each] !== undefined);
  if (unit === undefined || others.length > 0)
    throw new BudgetProblem('CV82', `${path} must have exactly one of ${UNITS.join(', ')}`);
  const rule = ruleOf(budget, path, reading);
  const conditions = conditionsOf(budget, path, (value, at) => amountIn(value, unit, at));
  return {
    ...conditions,
    unit,
    limit: amountIn(budget[unit], unit, `${path}.${unit}`),
    rule,
    ruleName: ruleName(rule) + modelsName(conditions.models),
    reserveTokens: count(budget['reserve_tokens'], `${path}.reserve_tokens`),
  };
}

/** Micro-dollars, tokens or requests. Throws a `BudgetProblem`. */
export function amountIn(value: unknown, unit: Unit, path: string): number {
  if (unit !== 'usd') return count(value, path) ?? 0;
  const micro = typeof value === 'number' ? Math.round(value * MICRO) : Number.NaN;
  if (!(micro >= 0 && Number(value) <= MOST_USD) || micro / MICRO !== value)
    throw new BudgetProblem(
      'CV82',
      `${path} must be a number from 0 to ${MOST_USD} with at most six decimals, not ${quoted(value)}`,
    );
  return micro;
}

function count(value: unknown, path: string): number | undefined {
  if (value === undefined) return undefined;
  if (Number.isSafeInteger(value) && Number(value) >= 0) return Number(value);
  throw new BudgetProblem(
    'CV82',
    `${path} must be an integer from 0 to ${Number.MAX_SAFE_INTEGER}, not ${quoted(value)}`,
  );
}

function ruleOf(budget: Written, path: string, { timezone }: BudgetReading): WindowRule {
  const { every = 'total', from } = budget;
  const isCivil = typeof every === 'string' && CIVIL.has(every);
  for (const name of ['at', 'on', 'timezone'])
    if (!isCivil && budget[name] !== undefined)
      throw new BudgetProblem(
        'CV84',
        `${path}.${name} is of no use beside every ${quoted(every)}; it is for day, week and month`,
      );
  if (isCivil || every === 'total') {
    if (from !== undefined)
      throw new BudgetProblem(
        'CV84',
        `${path}.from is of no use beside every ${quoted(every)}; it is for durations such as 5h`,
      );
    return isCivil ? civilOf({ timezone, ...budget }, every as 'day' | 'week' | 'month', path) : { kind: 'total' };
  }
  const minutes = (typeof every === 'string' ? (parseDuration(every) ?? Number.NaN) : Number.NaN) / MINUTE_MS;
  if (!Number.isInteger(minutes) || minutes < 1 || minutes > MOST_MINUTES)
    throw new BudgetProblem(
      'CV84',
      `${path}.every must be day, week, month, total, or a duration of whole minutes from 1m to 87600h, not ${quoted(every)}`,
    );
  return { kind: 'duration', minutes, from: from === undefined ? 0 : momentOf(from, `${path}.from`) };
}

function civilOf(budget: Written, kind: 'day' | 'week' | 'month', path: string): WindowRule {
  const { at = '00:00', timezone = 'UTC' } = budget;
  const [, hours, minutes] = (typeof at === 'string' && CLOCK.exec(at)) || [];
  if (hours === undefined)
    throw new BudgetProblem('CV84', `${path}.at must be a time such as 06:00, not ${quoted(at)}`);
  if (typeof timezone !== 'string' || !isZone(timezone))
    throw new BudgetProblem(
      'CV84',
      `${path}.timezone must be a time zone such as Europe/Berlin, not ${quoted(timezone)}`,
    );
  return { kind, zone: timezone, at: Number(hours) * 60 + Number(minutes), on: onOf(budget['on'], kind, path) };
}

function onOf(on: unknown, kind: 'day' | 'week' | 'month', path: string): number {
  if (kind === 'day') {
    if (on === undefined) return 0;
    throw new BudgetProblem('CV84', `${path}.on is of no use beside every "day"; it is for week and month`);
  }
  if (kind === 'week') {
    const day = WEEKDAYS.findIndex((name) => name === (on ?? 'mon'));
    if (day >= 0) return day;
    throw new BudgetProblem('CV84', `${path}.on must be one of mon, tue, wed, thu, fri, sat, sun, not ${quoted(on)}`);
  }
  const day = on ?? 1;
  if (Number.isInteger(day) && Number(day) >= 1 && Number(day) <= 31) return Number(day);
  throw new BudgetProblem('CV84', `${path}.on must be a day of the month from 1 to 31, not ${quoted(on)}`);
}

/** Unix milliseconds. */
function momentOf(value: unknown, path: string): number {
  const [text, local = ''] = (typeof value === 'string' && MOMENT.exec(value)) || [];
  const shown = Date.parse(`${local}Z`);
  if (text === undefined || Number.isNaN(shown) || new Date(shown).toISOString().slice(0, 19) !== local)
    throw new BudgetProblem(
      'CV84',
      `${path} must be an RFC 3339 timestamp in whole seconds such as 2026-01-31T12:00:00Z, not ${quoted(value)}`,
    );
  return Date.parse(text);
}
