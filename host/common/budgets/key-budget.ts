import { quoted } from '../../contract/index.ts';
import { parseDuration } from '../../contract/duration.ts';
import { ruleName, WEEKDAYS, type WindowRule } from './windows.ts';
import { isZone } from './zone.ts';

/** A budget of a key as it is written and shown. See docs/reference/budgets.md. */
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
}

export const UNITS = ['usd', 'tokens', 'requests'] as const;
export type Unit = (typeof UNITS)[number];

/** A budget as it is reckoned. */
export interface BudgetFacts {
  readonly unit: Unit;
  /** Micro-dollars, tokens or requests. */
  readonly limit: number;
  readonly rule: WindowRule;
  readonly reserveTokens: number | undefined;
}

/** A budget that is none. The message names the member by its path. */
export class BudgetProblem extends Error {
  override readonly name = 'BudgetProblem';
}

export const MOST_BUDGETS = 16;
const MOST_USD = 1e9;
const MICRO = 1e6;
const MINUTE_MS = 60_000;
const MOST_MINUTES = 87_600 * 60;
const MEMBERS = new Set([...UNITS, 'every', 'at', 'on', 'timezone', 'from', 'reserve_tokens']);
const CIVIL = new Set(['day', 'week', 'month']);
const CLOCK = /^([01]\d|2[0-3]):([0-5]\d)$/;
const MOMENT = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

type Written = Readonly<Record<string, unknown>>;

/** Reads budgets out of JSON. Throws a `BudgetProblem`. */
export function readBudgets(value: unknown, name = 'budgets'): readonly KeyBudget[] {
  if (!Array.isArray(value)) throw new BudgetProblem(`${name} must be a list of budgets, not ${quoted(value)}`);
  if (value.length > MOST_BUDGETS)
    throw new BudgetProblem(`${name} has ${value.length} entries, the limit is ${MOST_BUDGETS}`);
  const known = new Map<string, number>();
  value.forEach((budget: unknown, at) => {
    const path = `${name}[${at}]`;
    const { unit, rule } = factsOf(budget, path);
    const identity = `${unit} ${ruleName(rule)}`;
    const twin = known.get(identity);
    if (twin !== undefined)
      throw new BudgetProblem(
        `${path} counts what ${name}[${twin}] counts, in the same windows; leave one of them out`,
      );
    known.set(identity, at);
  });
  return value as readonly KeyBudget[];
}

/** What a budget comes to. Throws a `BudgetProblem`. */
export function factsOf(written: unknown, path: string): BudgetFacts {
  if (typeof written !== 'object' || written === null || Array.isArray(written))
    throw new BudgetProblem(`${path} must be a budget such as {"usd": 50, "every": "day"}, not ${quoted(written)}`);
  const budget = written as Written;
  const unknown = Object.keys(budget).find((name) => !MEMBERS.has(name));
  if (unknown !== undefined)
    throw new BudgetProblem(`${path} has no member ${quoted(unknown)}; its members are ${[...MEMBERS].join(', ')}`);
  const [unit, ...others] = UNITS.filter((each) => budget[each] !== undefined);
  if (unit === undefined || others.length > 0)
    throw new BudgetProblem(`${path} must have exactly one of ${UNITS.join(', ')}`);
  return {
    unit,
    limit: limitOf(budget[unit], unit, path),
    rule: ruleOf(budget, path),
    reserveTokens: count(budget['reserve_tokens'], `${path}.reserve_tokens`),
  };
}

function limitOf(value: unknown, unit: Unit, path: string): number {
  if (unit !== 'usd') return count(value, `${path}.${unit}`) ?? 0;
  const micro = typeof value === 'number' ? Math.round(value * MICRO) : Number.NaN;
  if (!(micro >= 0 && Number(value) <= MOST_USD) || micro / MICRO !== value)
    throw new BudgetProblem(
      `${path}.usd must be a number from 0 to ${MOST_USD} with at most six decimals, not ${quoted(value)}`,
    );
  return micro;
}

function count(value: unknown, path: string): number | undefined {
  if (value === undefined) return undefined;
  if (Number.isSafeInteger(value) && Number(value) >= 0) return Number(value);
  throw new BudgetProblem(`${path} must be an integer from 0 to ${Number.MAX_SAFE_INTEGER}, not ${quoted(value)}`);
}

function ruleOf(budget: Written, path: string): WindowRule {
  const { every = 'total', from } = budget;
  const isCivil = typeof every === 'string' && CIVIL.has(every);
  for (const name of ['at', 'on', 'timezone'])
    if (!isCivil && budget[name] !== undefined)
      throw new BudgetProblem(
        `${path}.${name} is of no use beside every ${quoted(every)}; it is for day, week and month`,
      );
  if (isCivil || every === 'total') {
    if (from !== undefined)
      throw new BudgetProblem(
        `${path}.from is of no use beside every ${quoted(every)}; it is for durations such as 5h`,
      );
    return isCivil ? civilOf(budget, every as 'day' | 'week' | 'month', path) : { kind: 'total' };
  }
  const minutes = (typeof every === 'string' ? (parseDuration(every) ?? Number.NaN) : Number.NaN) / MINUTE_MS;
  if (!Number.isInteger(minutes) || minutes < 1 || minutes > MOST_MINUTES)
    throw new BudgetProblem(
      `${path}.every must be day, week, month, total, or a duration of whole minutes from 1m to 87600h, not ${quoted(every)}`,
    );
  return { kind: 'duration', minutes, from: from === undefined ? 0 : momentOf(from, `${path}.from`) };
}

function civilOf(budget: Written, kind: 'day' | 'week' | 'month', path: string): WindowRule {
  const { at = '00:00', timezone = 'UTC' } = budget;
  const [, hours, minutes] = (typeof at === 'string' && CLOCK.exec(at)) || [];
  if (hours === undefined) throw new BudgetProblem(`${path}.at must be a time such as 06:00, not ${quoted(at)}`);
  if (typeof timezone !== 'string' || !isZone(timezone))
    throw new BudgetProblem(`${path}.timezone must be a time zone such as Europe/Berlin, not ${quoted(timezone)}`);
  return { kind, zone: timezone, at: Number(hours) * 60 + Number(minutes), on: onOf(budget['on'], kind, path) };
}

function onOf(on: unknown, kind: 'day' | 'week' | 'month', path: string): number {
  if (kind === 'day') {
    if (on === undefined) return 0;
    throw new BudgetProblem(`${path}.on is of no use beside every "day"; it is for week and month`);
  }
  if (kind === 'week') {
    const day = WEEKDAYS.findIndex((name) => name === (on ?? 'mon'));
    if (day >= 0) return day;
    throw new BudgetProblem(`${path}.on must be one of mon, tue, wed, thu, fri, sat, sun, not ${quoted(on)}`);
  }
  const day = on ?? 1;
  if (Number.isInteger(day) && Number(day) >= 1 && Number(day) <= 31) return Number(day);
  throw new BudgetProblem(`${path}.on must be a day of the month from 1 to 31, not ${quoted(on)}`);
}

/** Unix milliseconds. */
function momentOf(value: unknown, path: string): number {
  const [text, local = ''] = (typeof value === 'string' && MOMENT.exec(value)) || [];
  const shown = Date.parse(`${local}Z`);
  if (text === undefined || Number.isNaN(shown) || new Date(shown).toISOString().slice(0, 19) !== local)
    throw new BudgetProblem(
      `${path} must be an RFC 3339 timestamp in whole seconds such as 2026-01-31T12:00:00Z, not ${quoted(value)}`,
    );
  return Date.parse(text);
}
