import { createHash } from 'node:crypto';
import { quoted } from '../../contract/index.ts';
import { patternsIn } from '../accounts/name-rules.ts';
import { BudgetProblem } from './budget-problem.ts';

/** What is said of a budget beside its limit and its window. */
export interface BudgetConditions {
  /** Patterns of the models that it counts; all without them. */
  readonly models: readonly string[] | undefined;
  /** Shares of the limit at which a warning is given, ascending. */
  readonly warn: readonly number[];
  /** Whether the call that crosses the limit is served (`one`), or only what fits whole (`none`). */
  readonly overrun: 'one' | 'none';
  /** The model that is used beyond the limit, and how much more it may spend. */
  readonly over: { readonly use: string; readonly more: number } | undefined;
  /** Spent already in the window that runs when the budget is made. */
  readonly opening: number | undefined;
}

type Written = Readonly<Record<string, unknown>>;

const MOST_WARNINGS = 5;
const HASH_DIGITS = 8;
export const OVERRUNS = ['one', 'none'] as const;

/** Reads what stands beside limit and window. `amount` reads a number in the unit of the budget. Throws a `BudgetProblem`. */
export function conditionsOf(
  budget: Written,
  path: string,
  amount: (value: unknown, path: string) => number,
): BudgetConditions {
  const { models, warn, overrun, over, opening } = budget;
  return {
    models: models === undefined ? undefined : patternsIn(models, `${path}.models`),
    warn: warn === undefined ? [] : warningsIn(warn, `${path}.warn`),
    overrun: overrunIn(overrun, `${path}.overrun`),
    over: over === undefined ? undefined : overIn(over, `${path}.over`, amount),
    opening: opening === undefined ? undefined : amount(opening, `${path}.opening`),
  };
}

/** What models add to the name of what is counted: however they are ordered, it is one. */
export function modelsName(models: readonly string[] | undefined): string {
  if (!models || models.length === 0) return '';
  const digest = createHash('sha256').update([...new Set(models)].toSorted().join(','));
  return `/m:${digest.digest('hex').slice(0, HASH_DIGITS)}`;
}

function warningsIn(value: unknown, path: string): readonly number[] {
  const isRatio = (ratio: unknown): boolean => typeof ratio === 'number' && ratio > 0 && ratio <= 1;
  const isAscending = (ratio: number, at: number, all: readonly number[]): boolean =>
    at === 0 || ratio > (all[at - 1] ?? 0);
  if (
    Array.isArray(value) &&
    value.length <= MOST_WARNINGS &&
    value.every(isRatio) &&
    (value as readonly number[]).every(isAscending)
  )
    return value as readonly number[];
  throw new BudgetProblem(
    'CV85',
    `${path} must be at most ${MOST_WARNINGS} ascending numbers above 0, up to 1, such as [0.5, 0.8], not ${quoted(value)}`,
  );
}

function overrunIn(value: unknown, path: string): 'one' | 'none' {
  const word = OVERRUNS.find((each) => each === (value ?? 'one'));
  if (word) return word;
  throw new BudgetProblem('CV89', `${path} must be one or none, not ${quoted(value)}`);
}

function overIn(
  value: unknown,
  path: string,
  amount: (value: unknown, path: string) => number,
): { readonly use: string; readonly more: number } {
  const { use, more, ...others } = (typeof value === 'object' && value !== null ? value : {}) as Written;
  if (typeof use !== 'string' || use === '' || more === undefined || Object.keys(others).length > 0)
    throw new BudgetProblem(
      'CV87',
      `${path} must name a model and how much more it may spend, such as {"use": "gpt-5-nano", "more": 25}, not ${quoted(value)}`,
    );
  return { use, more: amount(more, `${path}.more`) };
}
