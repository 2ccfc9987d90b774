import { budgetCount } from '../../../host/common/accounts/level.ts';
import { quoted } from '../../../host/contract/index.ts';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import type { Host } from '../../../host/host.ts';
import type { KeyChange } from '../../../host/stores/keys/key-record.ts';

/** Budgets that one request may ask. */
export const MOST_BUDGETS_ASKED = 64;

/** Refuses a key of an account that does not exist, and one whose requests would ask more budgets than they may. */
export function refuseAccount({ current }: Pick<Host, 'current'>, limits: KeyChange['limits'] = {}): void {
  const { account, budgets, budget_usd: total, session, tags } = limits;
  if (!current || account === undefined || account === null) return;
  const tree = current.accounts.tree();
  const chain = tree.chain(account);
  if (!chain) throw invalidRequest(`the account ${quoted(account)} does not exist`);
  const asked = [...chain, ...tree.tags(tags ?? [])].reduce((sum, each) => sum + budgetCount(each), 0);
  const own = (budgets?.length ?? 0) + (session?.budgets.length ?? 0);
  const sum = asked + own + (typeof total === 'number' ? 1 : 0);
  if (sum > MOST_BUDGETS_ASKED)
    throw invalidRequest(`a request of this key would ask ${sum} budgets, the limit is ${MOST_BUDGETS_ASKED}`);
}
