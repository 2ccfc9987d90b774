import type { Account } from '../../../host/common/accounts/account.ts';
import { ACCOUNT_MEMBER_LIST } from '../../../host/common/accounts/account-members.ts';
import { type Raise } from '../../../host/common/accounts/raise.ts';
import type { StoredAccount } from '../../../host/stores/accounts/account-repository.ts';
import { timestamp } from '../../../host/common/timestamps.ts';
import { accountId } from '../../../host/common/accounts/account-id.ts';
import type { BudgetState } from './budget-states.ts';
import { raiseObject } from './raise-object.ts';

export interface AccountSurroundings {
  readonly stored: StoredAccount | undefined;
  readonly states: readonly (BudgetState | null)[];
  readonly raises: readonly Raise[];
  readonly keys: number;
  readonly children: number;
}

/** An account or a tag as every route shows it: the members that bind, and which of them come from above. What is unset is left out. */
export function accountObject(account: Account, around: AccountSurroundings): object {
  const { path, origin, effective, inherited } = account;
  const { stored, states, raises, keys, children } = around;
  const { path: _path, blocked, budgets, ...members } = effective;
  const shown = {
    ...members,
    blocked: blocked === true ? true : undefined,
    budgets: budgets?.map((budget, at) => ({ ...budget, state: states[at] ?? null })),
  };
  return {
    id: accountId(path),
    path,
    origin,
    ...Object.fromEntries(
      ACCOUNT_MEMBER_LIST.filter(([name]) => name !== 'path').map(([name]) => [
        name,
        shown[name as keyof typeof shown],
      ]),
    ),
    inherited: inherited.length > 0 ? inherited : undefined,
    keys,
    children,
    import_id: stored?.importId,
    imported_version: stored?.importedVersion,
    version: stored?.version ?? 0,
    created_at: stored && timestamp(stored.createdAt),
    updated_at: stored && timestamp(stored.updatedAt),
    raises: raises.map(raiseObject),
  };
}
