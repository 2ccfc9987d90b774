import { isDeepStrictEqual } from 'node:util';
import { GatewayError, quoted } from '../../../host/contract/index.ts';
import type { Account } from '../../../host/common/accounts/account.ts';
import { accountOf } from '../../../host/common/accounts/account.ts';
import { ACCOUNT_MEMBER_LIST, type WrittenAccount } from '../../../host/common/accounts/account-members.ts';
import { isWithin, parentOf } from '../../../host/common/accounts/account-path.ts';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { timezoneOf } from '../../../host/config/rules/account-rules.ts';
import type { JsonAnswer, JsonCall } from '../../../host/http/json-route.ts';
import type { StoredAccount } from '../../../host/stores/accounts/account-repository.ts';
import type { AuditChange } from '../../../host/stores/audit/audit-entry.ts';
import { targetId } from '../asked.ts';
import type { Auditor } from '../auditor.ts';
import { firstObject } from '../first-object.ts';
import { memberChanges } from '../member-changes.ts';
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
    const account = readNewAccount(firstObject(call.bytes), this.#timezone);
    const { path } = account;
    await this.#auditor.during(call, {
      action: 'account.create',
      target: accountId(path),
      about: { path },
      act: () =>
        this.#write(account, (before) => {
          if (before) throw new GatewayError('account_exists', `the account ${path} exists`);
        }),
      done: ({ account: made }) => ({ detail: { path }, changes: accountChanges(undefined, made) }),
    });
    return this.#views.answer(path, 201);
  }

  async update(call: JsonCall): Promise<JsonAnswer> {
    const { path, origin } = await this.#views.find(targetId(call));
    const body = firstObject(call.bytes);
    const own = this.#host.stores.accounts.stored(path)?.account ?? { path };
    const next = readChangedAccount(body, own, this.#timezone);
    if (isDeepStrictEqual(next, own) && origin === 'stored') {
      refuseOtherVersion(call, this.#host.stores.accounts.stored(path));
      return this.#views.answer(path);
    }
    let before: WrittenAccount = own;
    await this.#auditor.during(call, {
      action: 'account.update',
      target: accountId(path),
      about: { path },
      act: () =>
        this.#write(next, (found) => {
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

  /** `decide` sees what is stored, and gives what is to be stored in the place of `account`, where it is another. */
  async #write(
    account: WrittenAccount,
    decide: (before: StoredAccount | undefined) => WrittenAccount | void,
  ): Promise<StoredAccount> {
    const { path } = account;
    this.#refuseDeclared(path);
    this.#refuseManyBudgets(account);
    const { accounts } = this.#host.stores;
    if (!accounts.stored(path) && accounts.accounts().length >= MOST_ACCOUNTS)
      throw invalidRequest(`there are ${MOST_ACCOUNTS} accounts, which is the limit`);
    const now = this.#host.services.clock.now();
    const kept = await changing(
      accounts.change(path, (before) => {
        const next = decide(before) ?? account;
        return {
          account: next,
          version: (before?.version ?? 0) + 1,
          createdAt: before?.createdAt ?? now,
          updatedAt: now,
          importId: before?.importId,
        };
      }),
    );
    if (!kept) throw unknownAccount(accountId(path));
    return kept;
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
