import { isDeepStrictEqual } from 'node:util';
import { GatewayError, quoted } from '../../../host/contract/index.ts';
import type { Account } from '../../../host/common/accounts/account.ts';
import { accountOf, budgetIdOf } from '../../../host/common/accounts/account.ts';
import { ACCOUNT_MEMBER_LIST, type WrittenAccount } from '../../../host/common/accounts/account-members.ts';
import { isWithin, parentOf } from '../../../host/common/accounts/account-path.ts';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { type BudgetFacts, factsOf, type KeyBudget, OPENED_BUDGETS } from '../../../host/common/budgets/key-budget.ts';
import { timezoneOf } from '../../../host/config/rules/account-rules.ts';
import type { JsonObject } from '../../../host/http/body/json-body.ts';
import type { JsonAnswer, JsonCall } from '../../../host/http/json-route.ts';
import type { StoredAccount } from '../../../host/stores/accounts/account-repository.ts';
import type { Opening } from '../../../host/stores/ledgers/opening.ts';
import type { AuditChange } from '../../../host/stores/audit/audit-entry.ts';
import { targetId } from '../asked.ts';
import type { Auditor } from '../auditor.ts';
import { firstObject } from '../first-object.ts';
import { memberChanges } from '../member-changes.ts';
import { identityOf, openingsOf, withoutOpenings } from '../openings.ts';
import { changing, reading } from '../store-calls.ts';
import { readChangedAccount, readNewAccount } from './account-body.ts';
import { accountId } from '../../../host/common/accounts/account-id.ts';
import { type AccountHost, type AccountViews, unknownAccount } from './account-views.ts';
import { MOST_BUDGETS_ASKED } from './key-account.ts';

const MOST_ACCOUNTS = 50_000;

/** What is done to accounts and tags: each reads its body, asks the store and leaves its row. */
export class AccountActions {
  readonly #host: AccountHost;
  readonly #auditor: Auditor;
  readonly #views: AccountViews;

  constructor(host: AccountHost, auditor: Auditor, views: AccountViews) {
    this.#host = host;
    this.#auditor = auditor;
    this.#views = views;
  }

  async create(call: JsonCall): Promise<JsonAnswer> {
    const body = firstObject(call.bytes);
    const account = readNewAccount(body, this.#timezone);
    const importId = await this.#importIn(body);
    const { path } = account;
    await this.#auditor.during(call, {
      action: 'account.create',
      target: accountId(path),
      about: { path },
      act: () =>
        this.#write(account, importId, (before) => {
          if (before) throw new GatewayError('account_exists', `the account ${path} exists`);
        }),
      done: ({ account: made }) => ({ detail: { path }, changes: accountChanges(undefined, made) }),
    });
    return this.#views.answer(path, 201);
  }

  async update(call: JsonCall): Promise<JsonAnswer> {
    const { path, origin } = await this.#views.find(targetId(call));
    const body = firstObject(call.bytes);
    const stored = this.#host.stores.accounts.stored(path);
    const own = stored?.account ?? { path };
    const next = readChangedAccount(body, own, this.#timezone);
    const importId = writtenImport(body);
    if (importId !== undefined && importId !== stored?.importId)
      throw invalidRequest('the import_id of an account cannot change');
    if (isDeepStrictEqual(next, own) && origin === 'stored') {
      refuseOtherVersion(call, stored);
      return this.#views.answer(path);
    }
    let before: WrittenAccount = own;
    await this.#auditor.during(call, {
      action: 'account.update',
      target: accountId(path),
      about: { path },
      act: () =>
        this.#write(next, importId, (found) => {
          refuseOtherVersion(call, found);
          before = found?.account ?? { path };
          return readChangedAccount(body, before, this.#timezone);
        }),
      done: ({ account: after }) => ({
        detail: { path, changed: changesOf(before, after) },
        changes: accountChanges(before, after),
      }),
    });
    return this.#views.answer(path);
  }

  async delete(call: JsonCall): Promise<JsonAnswer> {
    const { path, kind } = await this.#views.find(targetId(call));
    const { accounts } = this.#host.stores;
    await this.#auditor.during(call, {
      action: 'account.delete',
      target: accountId(path),
      about: { path },
      act: async () => {
        this.#refuseDeclared(path);
        if (kind === 'account') await this.#refuseUsed(path);
        await changing(
          accounts.change(path, (before) => {
            if (!before) throw unknownAccount(accountId(path));
            refuseOtherVersion(call, before);
            return undefined;
          }),
        );
      },
      done: () => ({ detail: { path } }),
    });
    return { status: 204 };
  }

  get #timezone(): string {
    const { current } = this.#host;
    return current ? timezoneOf(current.config) : 'UTC';
  }

  /** The import that a body names, which must exist. */
  async #importIn(body: JsonObject): Promise<string | undefined> {
    const id = writtenImport(body);
    if (id === undefined) return undefined;
    const { stores, log } = this.#host;
    if (!(await reading(stores.accounts.getImport(id), log)))
      throw invalidRequest(`the import ${quoted(id)} does not exist`);
    return id;
  }

  /** `decide` sees what is stored, and gives what is to be stored in the place of `account`, where it is another. */
  async #write(
    account: WrittenAccount,
    importId: string | undefined,
    decide: (before: StoredAccount | undefined) => WrittenAccount | void,
  ): Promise<StoredAccount> {
    const { path } = account;
    this.#refuseDeclared(path);
    this.#refuseManyBudgets(kept(account));
    const { accounts, ledgers } = this.#host.stores;
    let openings: readonly Opening[] = [];
    if (!accounts.stored(path) && accounts.accounts().length >= MOST_ACCOUNTS)
      throw invalidRequest(`there are ${MOST_ACCOUNTS} accounts, which is the limit`);
    const now = this.#host.services.clock.now();
    const written = await changing(
      accounts.change(path, (before) => {
        const next = decide(before) ?? account;
        openings = openingsOfAccount(next, before?.account, { now, timezone: this.#timezone });
        const version = (before?.version ?? 0) + 1;
        const stored: StoredAccount = {
          account: kept(next),
          version,
          createdAt: before?.createdAt ?? now,
          updatedAt: now,
          importId: before ? before.importId : importId,
          importedVersion: importId === undefined ? before?.importedVersion : version,
        };
        return { stored, openings };
      }),
    );
    if (!written) throw unknownAccount(accountId(path));
    ledgers.value.begin?.(openings);
    return written;
  }

  #refuseDeclared(path: string): void {
    if (this.#views.tree().find(path)?.origin === 'declared')
      throw new GatewayError('account_declared', `the account ${path} is declared in the configuration`);
  }

  #refuseManyBudgets(written: WrittenAccount): void {
    const tree = this.#views.tree();
    const above = tree.chain(parentOf(written.path)) ?? [];
    const { path } = written;
    const own = accountOf({ path, origin: 'stored', written, parent: above[0], timezone: this.#timezone });
    const asked = [own, ...above].reduce((sum: number, { budgets }: Account) => sum + budgets.length, 0);
    if (asked > MOST_BUDGETS_ASKED)
      throw invalidRequest(
        `${path} and the accounts above it would have ${asked} budgets, the limit is ${MOST_BUDGETS_ASKED}`,
      );
  }

  async #refuseUsed(path: string): Promise<void> {
    const { stores, log } = this.#host;
    const counts = await reading(stores.keys.accountCounts(), log);
    let keys = 0;
    for (const [account, count] of counts) if (isWithin(account, path)) keys += count;
    const below = stores.accounts.accounts().filter((each) => each.path !== path && isWithin(each.path, path)).length;
    if (keys > 0 || below > 0)
      throw new GatewayError(
        'account_in_use',
        `the account ${path} has ${keys} keys, and ${below} stored accounts below it`,
      );
  }
}

/** Where the request names a version, it must be the one that is stored; 0 where nothing is. */
function refuseOtherVersion({ request }: JsonCall, stored: StoredAccount | undefined): void {
  const wanted = request.headers['if-match']?.trim();
  const version = `"${stored?.version ?? 0}"`;
  if (wanted === undefined || wanted === '*' || wanted.split(',').some((tag) => tag.trim() === version)) return;
  throw new GatewayError('version_conflict', `If-Match is ${quoted(wanted)}; the account has the ETag ${version} now`);
}

function writtenImport({ import_id: id }: JsonObject): string | undefined {
  if (id === undefined || id === null) return undefined;
  if (typeof id === 'string') return id;
  throw invalidRequest('import_id must be a text');
}

/** An account as it is kept: without what was spent before its budgets. */
const kept = (account: WrittenAccount): WrittenAccount =>
  account.budgets ? { ...account, budgets: withoutOpenings(account.budgets) } : account;

/** What was spent already of budgets that are new there. Throws for others: what they have spent is counted. */
function openingsOfAccount(
  { path, budgets = [] }: WrittenAccount,
  before: WrittenAccount | undefined,
  { now, timezone }: { readonly now: number; readonly timezone: string },
): readonly Opening[] {
  const facts = (of: readonly KeyBudget[] = []): readonly BudgetFacts[] =>
    of.map((budget, at) => factsOf(budget, `budgets[${at}]`, { ...OPENED_BUDGETS, timezone }));
  const known = new Set(facts(before?.budgets).map(identityOf));
  const all = facts(budgets);
  const opened = all.findIndex((each) => each.opening !== undefined && known.has(identityOf(each)));
  if (opened >= 0) throw invalidRequest(`budgets[${opened}].opening is for budgets that are new, and this one is not`);
  return openingsOf(budgetIdOf(path), all, now);
}

const MEMBERS = ACCOUNT_MEMBER_LIST.map(([name]) => name);

/** As the trail keeps them beside `detail`. */
const accountChanges = (before: WrittenAccount | undefined, after: WrittenAccount): readonly AuditChange[] =>
  memberChanges(MEMBERS, before, after);

function changesOf(before: WrittenAccount, after: WrittenAccount): Readonly<Record<string, readonly unknown[]>> {
  return Object.fromEntries(
    ACCOUNT_MEMBER_LIST.filter(([name]) => !isDeepStrictEqual(before[name], after[name])).map(([name]) => [
      name,
      [before[name] ?? null, after[name] ?? null],
    ]),
  );
}
