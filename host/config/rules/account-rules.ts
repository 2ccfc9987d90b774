import { budgetCount } from '../../common/accounts/level.ts';
import type { WrittenAccount } from '../../common/accounts/account-members.ts';
import { isTagName } from '../../common/accounts/account-path.ts';
import { AccountTree } from '../../common/accounts/account-tree.ts';
import { type AccountProblem, readAccount } from '../../common/accounts/read-account.ts';
import { isZone } from '../../common/budgets/zone.ts';
import type { GatewayConfig } from '../document.ts';
import type { ConfigRule, RuleContext } from './rule.ts';

const MOST_DECLARED = 10_000;
const MOST_TAG_ENTRIES = 10;
/** Budgets that one request may ask. */
const MOST_ASKED = 64;

/** What to write instead, by the rule that is broken. */
export const ACCOUNT_FIXES: Readonly<Record<string, string>> = {
  CV80: 'write a path such as /acme/search or #nightly, and members that docs/reference/accounts.md lists',
  CV81: 'write each path once',
  CV82: 'write one of usd, tokens and requests, from 0, dollars with at most six decimals',
  CV83: 'keep one of them',
  CV84: 'write every, at, on, from and timezone as docs/reference/budgets.md has them',
  CV85: 'write shares of the limit, such as [0.5, 0.8]',
  CV86: 'write fewer',
  CV87: 'write a model and an amount, such as {use: gpt-5-nano, more: 25}',
  CV88: 'write a name, or the beginning of one and a * at its end',
  CV89: 'write one of these words',
};

/** Accounts and tags: one reading finds what breaks any of the rules CV80 to CV90. */
export const accountRules: readonly ConfigRule[] = [
  {
    id: 'CV80',
    check: (config, { report }) => {
      const { accounts = [] } = config;
      if (accounts.length > MOST_DECLARED)
        report(
          'accounts',
          `${accounts.length} accounts are declared, the limit is ${MOST_DECLARED}`,
          'declare fewer',
          'CV86',
        );
      else checkAccounts(accounts, timezoneOf(config), report);
    },
  },
  {
    id: 'CV84',
    check: ({ money: { timezone } }, { report }) => {
      if (timezone !== undefined && timezone !== '' && !isZone(timezone))
        report(
          'money.timezone',
          `"${timezone}" is not a time zone that this process knows`,
          'write one such as Europe/Berlin',
        );
    },
  },
  {
    id: 'CV90',
    check: ({ money: { tags } }, { report }) => checkTagEntries(tags?.metadata ?? [], report),
  },
];

/** Names of entries become tags such as `project=red`. */
function checkTagEntries(entries: readonly string[], report: RuleContext['report']): void {
  if (entries.length > MOST_TAG_ENTRIES)
    report(
      'money.tags.metadata',
      `money.tags.metadata has ${entries.length} entries, the limit is ${MOST_TAG_ENTRIES}`,
      'write fewer',
    );
  entries.forEach((name, at) => {
    if (!isTagName(`${name}=0`) || !isTagName(name))
      report(
        `money.tags.metadata[${at}]`,
        `"${name}" is not the name of a tag`,
        'write 1 to 62 letters, digits and ._:=/- that begin with a letter or a digit',
      );
  });
}

/** The time zone of budgets that name none. */
export const timezoneOf = ({ money: { timezone } }: Pick<GatewayConfig, 'money'>): string =>
  timezone !== undefined && timezone !== '' && isZone(timezone) ? timezone : 'UTC';

function checkAccounts(accounts: readonly unknown[], timezone: string, report: RuleContext['report']): void {
  const first = new Map<string, number>();
  const read: WrittenAccount[] = [];
  accounts.forEach((written, at) => {
    const { account, problems } = readAccount(written, `accounts[${at}]`, { timezone, hasOpening: false });
    for (const each of problems) reportProblem(each, report);
    if (!account) return;
    const twin = first.get(account.path);
    if (twin === undefined) first.set(account.path, at);
    else
      report(
        `accounts[${at}].path`,
        `accounts[${twin}] has the path "${account.path}" too`,
        'write each path once',
        'CV81',
      );
    read.push(account);
  });
  if (read.length === accounts.length && first.size === accounts.length) checkChains(read, first, timezone, report);
}

/** A message begins with the path of what it is about. */
function reportProblem({ rule, message }: AccountProblem, report: RuleContext['report']): void {
  const [path = ''] = message.split(' ', 1);
  report(path, message, ACCOUNT_FIXES[rule] ?? 'see docs/reference/accounts.md', rule);
}

function checkChains(
  accounts: readonly WrittenAccount[],
  places: ReadonlyMap<string, number>,
  timezone: string,
  report: RuleContext['report'],
): void {
  const tree = new AccountTree({ declared: accounts, stored: [], timezone });
  for (const { path } of accounts) {
    const asked = (tree.chain(path) ?? []).reduce((sum, each) => sum + budgetCount(each), 0);
    if (asked > MOST_ASKED)
      report(
        `accounts[${places.get(path) ?? 0}]`,
        `${path} and the accounts above it have ${asked} budgets, the limit is ${MOST_ASKED}`,
        'write fewer',
        'CV86',
      );
  }
}
