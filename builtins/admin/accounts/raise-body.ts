import { quoted } from '../../../host/contract/index.ts';
import type { Raise } from '../../../host/common/accounts/raise.ts';
import { BudgetProblem } from '../../../host/common/budgets/budget-problem.ts';
import { amountIn, type BudgetFacts, type KeyBudget, UNITS } from '../../../host/common/budgets/key-budget.ts';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { DAY_MS } from '../../../host/common/once-per.ts';
import type { JsonObject } from '../../../host/http/body/json-body.ts';
import { Members } from '../members.ts';
import { parseTimestamp } from '../../../host/common/timestamps.ts';

const MEMBERS: ReadonlySet<string> = new Set(['unit', 'every', 'amount', 'until', 'from', 'note']);
const LONGEST_NOTE = 1024;
const MOST_DAYS = 366;

/** A budget as it is written, and as it is reckoned. */
export interface RaisedBudget {
  readonly written: Pick<KeyBudget, 'every'>;
  readonly facts: Pick<BudgetFacts, 'unit' | 'ruleName'>;
}

export type WrittenRaise = Pick<Raise, 'unit' | 'rule' | 'amount' | 'from' | 'until' | 'note'>;

/** The body of a raise of one of these budgets, or of all that have its unit. Throws for the first member that is wrong. */
export function readRaise(body: JsonObject, budgets: readonly RaisedBudget[], now: number): WrittenRaise {
  const unknown = Object.keys(body).find((name) => !MEMBERS.has(name));
  if (unknown !== undefined) throw invalidRequest(`a raise has no member ${quoted(unknown)}`);
  const members = new Members(body);
  const word = members.text('unit');
  const unit = UNITS.find((each) => each === word);
  if (!unit) throw invalidRequest(`unit must be ${UNITS.join(', ')}`);
  const ofUnit = budgets.filter(({ facts }) => facts.unit === unit);
  if (ofUnit.length === 0) throw invalidRequest(`there is no budget of ${unit} to raise`);
  const rule = ruleIn(members.text('every'), ofUnit);
  const amount = amountAbove(body['amount'], unit);
  const until = momentIn(members, 'until');
  if (until === undefined) throw invalidRequest('until must be an RFC 3339 timestamp such as 2026-12-31T12:00:00Z');
  const from = momentIn(members, 'from') ?? now;
  if (until <= now) throw invalidRequest('until is in the past');
  if (until <= from) throw invalidRequest('until must be after from');
  if (until > now + MOST_DAYS * DAY_MS) throw invalidRequest(`until may be at most ${MOST_DAYS} days ahead`);
  const note = members.text('note');
  if (note !== undefined && note.length > LONGEST_NOTE)
    throw invalidRequest(`note has ${note.length} characters, the limit is ${LONGEST_NOTE}`);
  return { unit, rule, amount, from, until, note };
}

/** The rule of the budget that `every` names: as it is written, or as it stands in the names of what is counted. */
function ruleIn(every: string | undefined, budgets: readonly RaisedBudget[]): string | undefined {
  if (every === undefined) return undefined;
  const exact = budgets.find(({ facts }) => facts.ruleName === every);
  if (exact) return every;
  const [found, ...others] = budgets.filter(({ written }) => (written.every ?? 'total') === every);
  const names = budgets.map(({ facts }) => facts.ruleName).join(', ');
  if (!found) throw invalidRequest(`every is ${quoted(every)}, which none of the budgets has; use ${names}`);
  if (others.length > 0) throw invalidRequest(`every is ${quoted(every)}, which several budgets have; use ${names}`);
  return found.facts.ruleName;
}

function amountAbove(value: unknown, unit: Raise['unit']): number {
  try {
    const amount = amountIn(value, unit, 'amount');
    if (value !== undefined && amount > 0) return amount;
  } catch (error) {
    throw error instanceof BudgetProblem ? invalidRequest(error.message) : error;
  }
  throw invalidRequest('amount must be above 0');
}

function momentIn(members: Members, name: string): number | undefined {
  const text = members.text(name);
  if (text === undefined) return undefined;
  const at = parseTimestamp(text);
  if (at === undefined) throw invalidRequest(`${name} is ${quoted(text)}; use an RFC 3339 timestamp`);
  return at;
}
