import type { AccountLimits, WrittenAccount } from '../../common/accounts/account-members.ts';
import { isTagPattern } from '../../common/accounts/account-path.ts';
import type { AccountTree } from '../../common/accounts/account-tree.ts';
import { matchesPattern } from '../../common/accounts/name-rules.ts';
import type { KeyBudget } from '../../common/budgets/key-budget.ts';
import type { GatewayConfig } from '../../config/document.ts';
import type { ProviderWarning } from '../instances/instance-warnings.ts';

const MOST_NAMED = 5;

/** Limits of an account as they are written, or those of its children, and where that is. */
interface Place {
  readonly at: string;
  readonly path: string;
  readonly limits: AccountLimits;
}

/** What accounts of a document do that their author may not have meant: WN40, WN42, WN44. The rules have read them. */
export function writtenAccountWarnings(
  config: Pick<GatewayConfig, 'accounts' | 'money' | 'targets'>,
): readonly ProviderWarning[] {
  const accounts = declaredIn(config);
  const targets = config.targets.map(({ virtual_key: name }) => name);
  return [
    ...placesOf(accounts).flatMap((place) => [...uncounted(place, config), ...unknownTargets(place, targets)]),
    ...accounts.flatMap(unbounded),
  ];
}

/** Budgets whose model beyond them is served by nothing (`WN41`). */
export function unservedWarnings(
  config: Pick<GatewayConfig, 'accounts'>,
  isServed: (model: string) => boolean,
): readonly ProviderWarning[] {
  return placesOf(declaredIn(config)).flatMap(({ at, path, limits }) =>
    budgetsOf(limits).flatMap(({ place, budget: { over } }) =>
      over === undefined || isServed(over.use)
        ? []
        : [
            {
              path: `${at}${place}.over.use`,
              rule: 'WN41',
              message: `no target serves "${over.use}", which ${path} uses beyond a budget: such requests are refused`,
              fix: 'write a model, an alias or a group that a target serves',
              line: 'the model beyond a budget is served by nothing',
              attributes: { account: path, model: over.use },
            },
          ],
    ),
  );
}

/** Stored accounts that rest because the document declares them (`WN43`). */
export function hiddenWarnings(
  config: Pick<GatewayConfig, 'accounts'>,
  isStored: (path: string) => boolean,
): readonly ProviderWarning[] {
  return declaredIn(config).flatMap(({ path }, at) =>
    isStored(path)
      ? [
          {
            path: `accounts[${at}]`,
            rule: 'WN43',
            message: `the stored account ${path} rests while the configuration declares it`,
            fix: 'delete the stored one, or do not declare it',
            line: 'a stored account rests: the configuration declares it',
            attributes: { account: path },
          },
        ]
      : [],
  );
}

/** Keys that may use no model, because the account that they name does not exist (`WN45`). `counts`: how many keys name each account. */
export function missingWarnings(tree: AccountTree, counts: ReadonlyMap<string, number>): readonly ProviderWarning[] {
  const missing = [...counts]
    .filter(([path, keys]) => keys > 0 && !tree.chain(path))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (missing.length === 0) return [];
  const keys = missing.reduce((sum, [, count]) => sum + count, 0);
  const named = missing.slice(0, MOST_NAMED).map(([path]) => path);
  const accounts = `${named.join(', ')}${missing.length > named.length ? ', …' : ''}`;
  return [
    {
      path: 'accounts',
      rule: 'WN45',
      message: `${keys} keys name accounts that do not exist, and may use no model: ${accounts}`,
      fix: 'make the accounts, or give the keys others',
      line: 'keys name accounts that do not exist',
      attributes: { keys, accounts },
    },
  ];
}

const declaredIn = ({ accounts }: Pick<GatewayConfig, 'accounts'>): readonly WrittenAccount[] =>
  (accounts ?? []) as readonly WrittenAccount[];

const placesOf = (accounts: readonly WrittenAccount[]): readonly Place[] =>
  accounts.flatMap((account, at) => [
    { at: `accounts[${at}].`, path: account.path, limits: account },
    ...(account.child_default
      ? [
          {
            at: `accounts[${at}].child_default.`,
            path: `${account.path} for its children`,
            limits: account.child_default,
          },
        ]
      : []),
  ]);

const budgetsOf = ({
  budgets = [],
  session,
}: AccountLimits): readonly { readonly place: string; readonly budget: KeyBudget }[] => [
  ...budgets.map((budget, at) => ({ place: `budgets[${at}]`, budget })),
  ...(session?.budgets ?? []).map((budget, at) => ({ place: `session.budgets[${at}]`, budget })),
];

function uncounted({ at, path, limits }: Place, { money }: Pick<GatewayConfig, 'money'>): readonly ProviderWarning[] {
  const isInDollars = budgetsOf(limits).some(({ budget: { usd } }) => usd !== undefined);
  if (!isInDollars || (limits.unpriced ?? money.unpriced) !== 'allow') return [];
  return [
    {
      path: limits.unpriced === undefined ? 'money.unpriced' : `${at}unpriced`,
      rule: 'WN40',
      message: `${path} has a budget in dollars, and "allow" serves models without a price, which it does not count`,
      fix: 'write refuse, or warn',
      line: 'a budget in dollars does not count models without a price, which are allowed',
      attributes: { account: path },
    },
  ];
}

function unknownTargets(
  { at, path, limits: { providers } }: Place,
  targets: readonly string[],
): readonly ProviderWarning[] {
  return (['allow', 'deny'] as const).flatMap((list) =>
    (providers?.[list] ?? []).flatMap((pattern, place) =>
      targets.some((name) => matchesPattern(pattern, name))
        ? []
        : [
            {
              path: `${at}providers.${list}[${place}]`,
              rule: 'WN42',
              message: `"${pattern}" is the name of no target`,
              fix: 'write the virtual_key of a target',
              line: 'a rule of an account names no target',
              attributes: { account: path, target: pattern },
            },
          ],
    ),
  );
}

/** Each new value of a pattern begins at 0. */
function unbounded(
  { path, brought_by: broughtBy = 'key', ...limits }: WrittenAccount,
  at: number,
): readonly ProviderWarning[] {
  if (!isTagPattern(path) || broughtBy === 'key' || budgetsOf(limits).length === 0) return [];
  return [
    {
      path: `accounts[${at}].brought_by`,
      rule: 'WN44',
      message: `requests choose the values of ${path}, and each new one has a budget of its own: that bounds nothing by itself`,
      fix: 'give the account or the key a budget too, or let only keys bring the tag',
      line: 'requests choose the values of a tag whose budgets are for each value',
      attributes: { account: path },
    },
  ];
}
