import { ACCOUNT_MEMBER_LIST, type WrittenAccount } from '../../../../host/common/accounts/account-members.ts';
import { looserMembers } from '../../../../host/common/accounts/looser.ts';
import { ACCOUNT_BUDGETS, factsOf, type KeyBudget } from '../../../../host/common/budgets/key-budget.ts';
import { canonicalJson } from '../../../../host/config/canonical.ts';
import { type Fields, isFields } from '../../../../host/contract/json/fields.ts';
import type { Client } from '../../client.ts';

const PAGE = 1000;
const ACCOUNTS = '/admin/accounts';

/** Accounts and tags of the gateway, by path. */
export async function accountsOf(client: Client): Promise<ReadonlyMap<string, Fields>> {
  const found = new Map<string, Fields>();
  for (let offset = 0, isMore = true; isMore; offset += PAGE) {
    const rows = await client.rows(`${ACCOUNTS}?limit=${PAGE}&offset=${offset}`);
    for (const row of rows) found.set(String(row['path']), row);
    isMore = rows.length === PAGE;
  }
  return found;
}

/** Names of models that the gateway serves. */
export async function modelsOf(client: Client): Promise<ReadonlySet<string>> {
  return new Set((await client.rows('/v1/models')).map(({ id }) => String(id)));
}

/** What is to be done with an account: it is made, changed, or as it is to be already; else it was made or changed by others, and stays. */
export type AccountTask = 'make' | 'change' | 'nothing' | 'keep';

export function taskOf(planned: WrittenAccount, here: Fields | undefined): AccountTask {
  if (!here || here['origin'] === 'implied') return 'make';
  if (here['origin'] === 'declared' || here['import_id'] === undefined) return 'keep';
  if (here['version'] !== here['imported_version']) return 'keep';
  return canonicalJson(membersOf(here)) === canonicalJson(withoutOpenings(planned)) ? 'nothing' : 'change';
}

/** Members by which an account that others wrote lets more through. One that was imported, and changed here, was meant so. */
export function foreignMembers(planned: WrittenAccount, here: Fields | undefined): readonly string[] {
  const isForeign = here && here['origin'] !== 'implied' && here['import_id'] === undefined;
  return isForeign ? looserMembers(here, { ...planned }) : [];
}

/** Makes and changes accounts, those above first. Gives how many. */
export async function writeAccounts(
  client: Client,
  accounts: readonly WrittenAccount[],
  known: ReadonlyMap<string, Fields>,
  importId: string,
): Promise<number> {
  let count = 0;
  for (const account of accounts) {
    const here = known.get(account.path);
    const task = taskOf(account, here);
    if (task === 'make') await client.ok('POST', ACCOUNTS, { ...account, import_id: importId });
    if (task === 'change' && here) await client.ok('PUT', `${ACCOUNTS}/${String(here['id'])}`, changeOf(account, here));
    if (task === 'make' || task === 'change') count += 1;
  }
  return count;
}

/** All members, so that what is gone there is taken away here. Only budgets that are new begin with what was spent. */
function changeOf(account: WrittenAccount, here: Fields): object {
  const counted = new Set(budgetsIn(here).map(identityOf));
  const budgets = account.budgets?.map((budget) => (counted.has(identityOf(budget)) ? withoutOpening(budget) : budget));
  const gone = Object.fromEntries(ACCOUNT_MEMBER_LIST.map(([name]) => [name, null]));
  return { ...gone, ...account, ...(budgets && { budgets }), import_id: here['import_id'] };
}

/** Differences of an account from what it is to hold: members that let more through, and what was spent. */
export function differencesOf(planned: WrittenAccount, here: Fields | undefined): readonly string[] {
  if (!here) return ['missing'];
  const spent = new Map(budgetsIn(here).map((budget) => [identityOf(budget), spentIn(budget)]));
  const isLess = (planned.budgets ?? []).some((budget) => (spent.get(identityOf(budget)) ?? 0) < (budget.opening ?? 0));
  return [...looserMembers(here, { ...planned }), ...(isLess ? ['opening'] : [])];
}

function spentIn(budget: KeyBudget): number {
  const { state } = budget as { readonly state?: unknown };
  return isFields(state) && typeof state['spent'] === 'number' ? state['spent'] : 0;
}

const budgetsIn = ({ budgets }: Fields): readonly KeyBudget[] =>
  Array.isArray(budgets) ? budgets.filter((budget): budget is KeyBudget => isFields(budget)) : [];

/** What tells a budget from those beside it. */
function identityOf(budget: KeyBudget): string {
  const members = Object.entries(budget).filter(([name]) => ACCOUNT_BUDGETS.members.has(name));
  const { unit, ruleName } = factsOf(Object.fromEntries(members), 'budget', ACCOUNT_BUDGETS);
  return `${unit} ${ruleName}`;
}

/** The account's own members, as they are written. */
function membersOf(here: Fields): object {
  const inherited = Array.isArray(here['inherited']) ? here['inherited'] : [];
  const own = ACCOUNT_MEMBER_LIST.filter(([name]) => here[name] !== undefined && !inherited.includes(name));
  const members = Object.fromEntries(own.map(([name]) => [name, here[name]]));
  const { budgets } = members;
  if (!Array.isArray(budgets)) return members;
  return { ...members, budgets: budgets.map((budget) => ({ ...(budget as object), state: undefined })) };
}

function withoutOpenings(account: WrittenAccount): object {
  return account.budgets ? { ...account, budgets: account.budgets.map(withoutOpening) } : account;
}

const withoutOpening = ({ opening: _opening, ...budget }: KeyBudget): KeyBudget => budget;
