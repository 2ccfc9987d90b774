import { ACCOUNT_BUDGETS, type BudgetFacts, factsOf, type KeyBudget } from '../budgets/key-budget.ts';
import type { NameRules } from './name-rules.ts';

/** Limits of a key, of an account or of a tag: where they have a member of one name, it means the same. */
type Limits = Readonly<Record<string, unknown>>;

const COUNTS = ['rpm', 'tpm', 'max_parallel'];
/** Lists that allow what they name, and nothing else. */
const ALLOWING = ['models', 'providers', 'mcp_tools'];
const RULES = ['models', 'providers', 'model_rules', 'provider_rules'];

/** Members by which limits let more through than those that they are to hold. */
export function looserMembers(held: Limits, asked: Limits): readonly string[] {
  const looser = (name: string, isLooser: boolean): readonly string[] => (isLooser ? [name] : []);
  return [
    ...looser('account', asked['account'] !== undefined && held['account'] !== asked['account']),
    ...looser('blocked', asked['blocked'] === true && held['blocked'] !== true),
    ...COUNTS.flatMap((name) => looser(name, isMore(held[name], asked[name]))),
    ...ALLOWING.flatMap((name) => looser(name, Array.isArray(asked[name]) && !isWithin(held[name], asked[name]))),
    ...RULES.flatMap((name) => looser(name, isRules(asked[name]) && !isStricter(held[name], asked[name]))),
    ...looser('tags', Array.isArray(asked['tags']) && !isWithin(asked['tags'], held['tags'] ?? [])),
    ...looser('budgets', !budgetsIn(asked).every((budget) => holdsBudget(budgetsIn(held), budget))),
  ].filter((name, at, all) => all.indexOf(name) === at);
}

const budgetsIn = ({ budgets }: Limits): readonly KeyBudget[] =>
  Array.isArray(budgets) ? (budgets as readonly KeyBudget[]) : [];

const isMore = (held: unknown, asked: unknown): boolean =>
  typeof asked === 'number' && !(typeof held === 'number' && held <= asked);

const isWithin = (part: unknown, whole: unknown): boolean =>
  Array.isArray(part) && Array.isArray(whole) && part.every((item) => whole.includes(item));

const isRules = (value: unknown): value is NameRules =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isStricter(held: unknown, { allow, deny = [] }: NameRules): boolean {
  if (!isRules(held)) return false;
  return (allow === undefined || isWithin(held.allow, allow)) && isWithin(deny, held.deny ?? []);
}

/** Whether one of the budgets counts what another does, in the same windows, and allows no more. */
function holdsBudget(held: readonly KeyBudget[], asked: KeyBudget): boolean {
  const wanted = factsIn(asked);
  return held
    .map(factsIn)
    .some(({ unit, ruleName, limit }) => unit === wanted.unit && ruleName === wanted.ruleName && limit <= wanted.limit);
}

/** Without what answers show beside the members of a budget. */
function factsIn(budget: KeyBudget): BudgetFacts {
  const members = Object.entries(budget).filter(([name]) => ACCOUNT_BUDGETS.members.has(name));
  return factsOf(Object.fromEntries(members), 'budget', ACCOUNT_BUDGETS);
}
