import type { WrittenAccount } from '../../../host/common/accounts/account-members.ts';
import { AccountTree } from '../../../host/common/accounts/account-tree.ts';
import type { KeyBudget } from '../../../host/common/budgets/key-budget.ts';
import { timezoneOf } from '../../../host/config/rules/account-rules.ts';
import type { GatewayConfig } from '../../../host/config/document.ts';
import { unpricedOfBudgets } from '../../../host/config/unpriced-rule.ts';
import { writtenAccountWarnings } from '../../../host/generation/accounts/account-warnings.ts';
import { table } from '../report.ts';

/** The accounts and tags that a configuration declares, as a tree. */
export const declaredTree = (config: Pick<GatewayConfig, 'accounts' | 'money'>): AccountTree =>
  new AccountTree({
    declared: (config.accounts ?? []) as readonly WrittenAccount[],
    stored: [],
    timezone: timezoneOf(config),
  });

/** Each declared account, and those above it, with its budgets and what it says of models without a price; none where none is declared. */
export function accountTables(config: Pick<GatewayConfig, 'accounts' | 'money'>): string[] {
  const rows = [...declaredTree(config).known()].map(({ path, effective, budgets, sessionBudgets, unpriced }) => {
    const isInDollars = [...budgets, ...sessionBudgets].some(({ unit }) => unit === 'usd');
    const word = unpriced ?? (isInDollars ? unpricedOfBudgets(config) : '-');
    return [path, effective.budgets?.map(budgetText).join(', ') || '-', word];
  });
  return rows.length === 0 ? [] : [table(['ACCOUNT', 'BUDGETS', 'UNPRICED'], rows)];
}

/** A line each, as `gw validate` prints them. */
export const accountWarningLines = (config: GatewayConfig): readonly string[] =>
  writtenAccountWarnings(config).map(({ path, rule, message, fix }) => `${path}: ${rule}: ${message}; fix: ${fix}`);

function budgetText({ usd, tokens, requests, every = 'total' }: KeyBudget): string {
  const amount =
    usd === undefined ? (tokens === undefined ? `requests ${requests}` : `tokens ${tokens}`) : `usd ${usd}`;
  return `${amount} ${every}`;
}
