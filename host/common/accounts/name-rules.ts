import { quoted } from '../../contract/index.ts';
import { BudgetProblem } from '../budgets/budget-problem.ts';

/** Which names are allowed, and which are not. Each is exact, or a beginning and `*`. What is denied is denied whatever is allowed. */
export interface NameRules {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

const MOST_PATTERNS = 1000;
const LONGEST_PATTERN = 2048;

/** Whether a pattern is a name, or the beginning of one. */
export const matchesPattern = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;

/** Whether rules let a name through. An empty `allow` lets nothing through, none lets everything. */
export function allowsName({ allow, deny }: NameRules, name: string): boolean {
  const matches = (pattern: string): boolean => matchesPattern(pattern, name);
  return !deny?.some(matches) && (allow === undefined || allow.some(matches));
}

/** Reads patterns. Throws a `BudgetProblem`. */
export function patternsIn(value: unknown, path: string): readonly string[] {
  if (!Array.isArray(value)) throw new BudgetProblem('CV88', `${path} must be a list of names, not ${quoted(value)}`);
  if (value.length > MOST_PATTERNS)
    throw new BudgetProblem('CV88', `${path} has ${value.length} entries, the limit is ${MOST_PATTERNS}`);
  value.forEach((pattern: unknown, at) => {
    const isPattern = typeof pattern === 'string' && pattern !== '' && !pattern.slice(0, -1).includes('*');
    if (!isPattern || pattern.length > LONGEST_PATTERN)
      throw new BudgetProblem(
        'CV88',
        `${path}[${at}] must be a name, or the beginning of one and a * at its end, not ${quoted(pattern)}`,
      );
  });
  return value as readonly string[];
}

/** Reads rules. Throws a `BudgetProblem`. */
export function nameRulesIn(value: unknown, path: string): NameRules {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BudgetProblem('CV88', `${path} must be rules such as {"allow": ["gpt-5*"]}, not ${quoted(value)}`);
  const unknown = Object.keys(value).find((name) => name !== 'allow' && name !== 'deny');
  if (unknown !== undefined)
    throw new BudgetProblem('CV80', `${path} has no member ${quoted(unknown)}; its members are allow, deny`);
  const { allow, deny } = value as Readonly<Record<string, unknown>>;
  return {
    ...(allow !== undefined && { allow: patternsIn(allow, `${path}.allow`) }),
    ...(deny !== undefined && { deny: patternsIn(deny, `${path}.deny`) }),
  };
}
