import type { Account } from './account.ts';

/** What binds a request beside the limits of its key: the key's own rules, an account, one above it, or a tag. */
export interface Level extends Pick<
  Account,
  | 'path'
  | 'budgetId'
  | 'blocked'
  | 'budgets'
  | 'sessionBudgets'
  | 'rpm'
  | 'tpm'
  | 'maxParallel'
  | 'models'
  | 'providers'
  | 'unpriced'
  | 'requiredTags'
  | 'pattern'
> {
  readonly kind: 'key' | 'account' | 'tag';
}

/** How many budgets a level has: its own, and those of each session. */
export const budgetCount = ({ budgets, sessionBudgets }: Pick<Level, 'budgets' | 'sessionBudgets'>): number =>
  budgets.length + sessionBudgets.length;

/** What a level is called in messages. */
export const levelName = ({ kind, path }: Pick<Level, 'kind' | 'path'>): string =>
  kind === 'key' ? 'the key' : `the ${kind} ${path}`;
