/**
 * Windows of budgets. A window is a pure function of a rule and a moment, and its date is part of the name of what is counted: so nothing is set to 0
 * when one begins, and a clock that goes back finds the sums of the window before (docs/reference/budgets.md).
 */
import { Zone } from './zone.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const WEEK_DAYS = 7;

/** Days of the week as `on` has them, from the one that day 0 of 1970 plus four was. */
export const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

/** What says when a window begins. */
export type WindowRule =
  | { readonly kind: 'total' }
  | { readonly kind: 'duration'; readonly minutes: number; readonly from: number }
  | CivilRule;

/** A window that begins at a time of day, in a time zone. */
export interface CivilRule {
  readonly kind: 'day' | 'week' | 'month';
  readonly zone: string;
  /** Minutes after midnight. */
  readonly at: number;
  /** The day of the week, 0 for Sunday, or of the month. */
  readonly on: number;
}

/** A stretch of time, in Unix milliseconds. */
export interface Window {
  /** What tells it from the others of its rule. Empty for the one that never ends. */
  readonly name: string;
  readonly beginsAt: number;
  /** The moment at which the next one begins. */
  readonly endsAt: number;
}

const ALWAYS: Window = { name: '', beginsAt: Number.NEGATIVE_INFINITY, endsAt: Number.POSITIVE_INFINITY };

/** The rule as it stands in names of what is counted: however else a rule is written, it has the same. */
export function ruleName(rule: WindowRule): string {
  if (rule.kind === 'total') return 'total';
  if (rule.kind === 'duration')
    return `${durationName(rule.minutes)}~${new Date(rule.from).toISOString().slice(0, 19)}Z`;
  const { kind, zone, at, on } = rule;
  const clock = `${String(Math.floor(at / 60)).padStart(2, '0')}:${String(at % 60).padStart(2, '0')}`;
  const day = kind === 'week' ? `:${WEEKDAYS[on]}` : kind === 'month' ? `:${on}` : '';
  return `${kind}${day}@${zone}+${clock}`;
}

/** Whole hours as hours, anything else as minutes. */
export const durationName = (minutes: number): string => (minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`);

/** Windows of one rule. */
export class Windows {
  readonly #rule: WindowRule;
  readonly #zone: Zone | undefined;

  constructor(rule: WindowRule) {
    this.#rule = rule;
    this.#zone = 'zone' in rule ? new Zone(rule.zone) : undefined;
  }

  /** The one that a moment is in. */
  at(now: number): Window {
    const rule = this.#rule;
    if (rule.kind === 'total') return ALWAYS;
    if (rule.kind === 'duration') return durationAt(now, rule);
    return this.#zone ? civilAt(now, rule, this.#zone) : ALWAYS;
  }
}

function durationAt(now: number, { minutes, from }: { readonly minutes: number; readonly from: number }): Window {
  const length = minutes * MINUTE_MS;
  const index = Math.floor((now - from) / length);
  return { name: String(index), beginsAt: from + index * length, endsAt: from + (index + 1) * length };
}

/** Days are numbers of days since 1970. A day that a zone left out is a window without length. */
function civilAt(now: number, rule: CivilRule, zone: Zone): Window {
  const startOf = (day: number): number => zone.momentOf(day * DAY_MS + rule.at * MINUTE_MS);
  let day = nominal(Math.floor(zone.localAt(now) / DAY_MS), rule);
  while (startOf(day) > now) day = nominal(day - 1, rule);
  let endsAt = startOf(next(day, rule));
  while (endsAt <= now) {
    day = next(day, rule);
    endsAt = startOf(next(day, rule));
  }
  return { name: new Date(day * DAY_MS).toISOString().slice(0, 10), beginsAt: startOf(day), endsAt };
}

/** The last day up to this one on which a window begins. */
function nominal(day: number, { kind, on }: CivilRule): number {
  if (kind === 'day') return day;
  if (kind === 'week') return day - ((((day + 4 - on) % WEEK_DAYS) + WEEK_DAYS) % WEEK_DAYS);
  const month = monthOf(day);
  const begins = dayOfMonth(month, on);
  return begins <= day ? begins : dayOfMonth(month - 1, on);
}

function next(day: number, { kind, on }: CivilRule): number {
  if (kind === 'day') return day + 1;
  return kind === 'week' ? day + WEEK_DAYS : dayOfMonth(monthOf(day) + 1, on);
}

/** Months since the year 0. */
function monthOf(day: number): number {
  const date = new Date(day * DAY_MS);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** A day of a month, or its last one where the month is shorter. */
function dayOfMonth(month: number, on: number): number {
  const first = Date.UTC(Math.floor(month / 12), month % 12, 1);
  const last = new Date(Date.UTC(Math.floor(month / 12), (month % 12) + 1, 0)).getUTCDate();
  return first / DAY_MS + Math.min(on, last) - 1;
}
