import type { KeyBudget } from '../../../../host/common/budgets/key-budget.ts';
import { Zone } from '../../../../host/common/budgets/zone.ts';

/** When LiteLLM begins budgets again, by its settings. */
export interface SourceClock {
  readonly now: number;
  readonly timezone: string;
  /** `HH:MM`: when days, weeks and months begin. */
  readonly resetTime: string;
}

export type BudgetWindow = Pick<KeyBudget, 'every' | 'at' | 'on' | 'timezone' | 'from'>;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const MOST_MINUTES = 87_600 * 60;

/** Words of LiteLLM from 1.104 on; before, LiteLLM took them for the next midnight. Source: `duration_parser.py` of the wheel 1.110.2, read 2026-11-28. */
const WORDS: Readonly<Record<string, string>> = { daily: '24h', weekly: '7d', monthly: '30d' };
const DURATION = /^(\d{1,6})(mo|[mhdw])$/;

/**
 * The windows of a budget of LiteLLM. `undefined` where there are none like them here: of seconds, of several months, and of what is not a duration.
 * `resetAt` is when its next window begins, in Unix milliseconds. LiteLLM begins windows of hours and minutes anew at midnight and at full hours as well;
 * here they keep their length, so that no more may be spent.
 */
export function windowOf(
  duration: string | undefined,
  resetAt: number | undefined,
  clock: SourceClock,
): BudgetWindow | undefined {
  if (duration === undefined) return { every: 'total' };
  const written = WORDS[duration.trim().toLowerCase()] ?? duration;
  const [, digits = '', unit] = DURATION.exec(written) ?? [];
  const count = Number(digits);
  if (unit === undefined || count === 0) return undefined;
  const { timezone, resetTime } = clock;
  if (written === '24h') return { every: 'day', at: '00:00', timezone };
  const days = unit === 'w' ? count * 7 : unit === 'd' ? count : undefined;
  if (days === 1) return { every: 'day', at: resetTime, timezone };
  if (days === 7) return { every: 'week', on: 'mon', at: resetTime, timezone };
  if (days === 30 || (unit === 'mo' && count === 1)) return { every: 'month', on: 1, at: resetTime, timezone };
  if (unit === 'mo') return undefined;
  return lengthOf(days === undefined ? { count, unit } : { count: days, unit: 'd' }, resetAt, clock);
}

interface Length {
  readonly count: number;
  readonly unit: string;
}

function lengthOf(length: Length, resetAt: number | undefined, clock: SourceClock): BudgetWindow | undefined {
  const { count, unit } = length;
  const minutes = count * ({ m: 1, h: 60, d: 24 * 60 }[unit] ?? 0);
  if (minutes < 1 || minutes > MOST_MINUTES) return undefined;
  const from = resetAt !== undefined && resetAt > clock.now ? resetAt : nextReset(length, clock);
  const every = minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`;
  return { every, from: `${new Date(Math.ceil(from / 1000) * 1000).toISOString().slice(0, 19)}Z` };
}

/** When LiteLLM would begin the next window of a length, where no row says so: its `get_next_standardized_reset_time`. */
export function nextReset({ count, unit }: Length, { now, timezone, resetTime }: SourceClock): number {
  const zone = new Zone(timezone);
  const local = zone.localAt(now);
  const midnight = Math.floor(local / DAY_MS) * DAY_MS;
  if (unit === 'd') return zone.momentOf(midnight + count * DAY_MS + timeOfDay(resetTime));
  const size = unit === 'h' ? HOUR_MS : MINUTE_MS;
  const day = unit === 'h' ? midnight : Math.floor(local / HOUR_MS) * HOUR_MS;
  const passed = Math.floor((local - day) / size);
  const next = passed - (passed % count) + count;
  if (unit === 'h') return zone.momentOf(next < 24 ? day + next * size : midnight + DAY_MS + (next % 24) * size);
  const hours = (day - midnight) / HOUR_MS + Math.floor(next / 60);
  const minutes = (next % 60) * MINUTE_MS;
  return zone.momentOf(
    hours < 24 ? midnight + hours * HOUR_MS + minutes : midnight + DAY_MS + (hours % 24) * HOUR_MS + minutes,
  );
}

function timeOfDay(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number);
  return hours * HOUR_MS + minutes * MINUTE_MS;
}
