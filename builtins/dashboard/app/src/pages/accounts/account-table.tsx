import { Link } from 'wouter';
import { Pencil, TrendingUp, Trash2 } from 'lucide-react';
import type { Account } from '../../api/answers.ts';
import { Share } from '../../charts/share.tsx';
import { absoluteTime, integer } from '../../lib/format.ts';
import { withQuery } from '../../lib/query-string.ts';
import { useCanWrite } from '../../services.ts';
import { IconButton } from '../../ui/button.tsx';
import { Pill } from '../../ui/pill.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { TimeAgo } from '../../ui/time.tsx';
import type { AccountTask } from './account-dialogs.tsx';
import { amountText, depthOf, limitsText, nameOf, type ShownBudget, unitOf, windowText } from './account-text.ts';

const MOST_STEPS = 8;

export interface AccountTableProps {
  readonly accounts: readonly Account[];
  readonly onTask: (task: AccountTask) => void;
  /** Narrows the list to an account and what is below it. */
  readonly onUnder: (path: string) => void;
}

/** The tree, a row for each account; what is below stands further in. */
export function AccountTable({ accounts, onTask, onUnder }: AccountTableProps) {
  const canWrite = useCanWrite();
  const least = accounts.reduce((all, { path }) => Math.min(all, depthOf(path)), MOST_STEPS);
  const columns: readonly Column<Account>[] = [
    {
      key: 'account',
      header: 'Account',
      cell: (account) => <Name of={account} step={depthOf(account.path) - least} onUnder={onUnder} />,
    },
    { key: 'keys', header: 'Keys', isFigure: true, cell: ({ keys }) => integer(keys) },
    { key: 'budgets', header: 'Budgets', cell: (account) => <Budgets of={account} /> },
    {
      key: 'spend',
      header: 'Spend',
      isOneLine: true,
      cell: ({ path }) => {
        const isTag = path.startsWith('#');
        const href = withQuery('/spend', isTag ? { tag: path.slice(1), by: 'tag' } : { account: path, by: 'account' });
        return (
          <Link href={href} aria-label={`Spend of ${path}`}>
            Spend
          </Link>
        );
      },
    },
    ...(canWrite
      ? [
          {
            key: 'do',
            header: 'Actions',
            hidesHeader: true,
            isOneLine: true,
            cell: (account: Account) => <Tasks of={account} onTask={onTask} />,
          },
        ]
      : []),
  ];
  return <Table label="Accounts and tags" columns={columns} rows={accounts} rowKey={({ id }) => id} />;
}

function Name({
  of: account,
  step,
  onUnder,
}: {
  readonly of: Account;
  readonly step: number;
  readonly onUnder: (path: string) => void;
}) {
  const { path, title, origin, blocked, children } = account;
  const limits = limitsText(account);
  const name = step > 0 ? nameOf(path) : path;
  return (
    <div className="account-name" data-step={Math.min(step, MOST_STEPS)}>
      <span className="row">
        {children > 0 ? (
          <button type="button" className="account-path break" title={path} onClick={() => onUnder(path)}>
            {name}
          </button>
        ) : (
          <strong className="break" title={path}>
            {name}
          </strong>
        )}
        {blocked === true && <Pill tone="bad">Blocked</Pill>}
        {origin === 'declared' && <Pill tone="neutral">Declared in the configuration</Pill>}
        {origin === 'implied' && <Pill tone="neutral">Implied</Pill>}
      </span>
      {title !== undefined && <span className="account-line">{title}</span>}
      {limits !== '' && <span className="account-line">{limits}</span>}
    </div>
  );
}

function Budgets({ of: { budgets = [], inherited = [] } }: { readonly of: Account }) {
  if (budgets.length === 0) return <span className="account-line">None</span>;
  return (
    <ul className="account-budgets" aria-label="Budgets">
      {budgets.map((budget) => (
        <li key={budget.state?.name ?? JSON.stringify(budget)}>
          <BudgetLine budget={budget} isInherited={inherited.includes('budgets')} />
        </li>
      ))}
    </ul>
  );
}

/** What is spent of a budget in the window that runs, as text and as a bar. */
function BudgetLine({ budget, isInherited }: { readonly budget: ShownBudget; readonly isInherited: boolean }) {
  const { state, every, models } = budget;
  const unit = unitOf(budget);
  const written = Number(budget[unit]);
  const limit = written + (state?.raised ?? 0);
  const spent = state?.spent ?? 0;
  const notes = [
    state === null && 'for each value',
    isInherited && 'from above',
    models && `for ${models.join(', ')}`,
    state && state.raised > 0 && `raised by ${amountText(unit, state.raised)}`,
    state && state.reserved > 0 && `${amountText(unit, state.reserved)} in flight`,
  ].filter((note) => typeof note === 'string');
  return (
    <div className="account-budget">
      <span>
        {state === null ? '' : `${amountText(unit, spent)} of `}
        {amountText(unit, limit)} {windowText(every)}
      </span>
      {state !== null && <Share of={limit > 0 ? spent / limit : 1} />}
      {(notes.length > 0 || state?.ends_at !== undefined) && (
        <span className="account-line">
          {notes.join(' · ')}
          {state?.ends_at !== undefined && (
            <span title={absoluteTime(Date.parse(state.ends_at))}>
              {notes.length > 0 ? ' · ' : ''}begins again <TimeAgo at={state.ends_at} />
            </span>
          )}
        </span>
      )}
    </div>
  );
}

function Tasks({ of: account, onTask }: { readonly of: Account; readonly onTask: (task: AccountTask) => void }) {
  const { path, origin, budgets = [] } = account;
  const isDeclared = origin === 'declared';
  return (
    <span className="account-tasks">
      <IconButton
        icon={Pencil}
        label={`Edit ${path}`}
        disabled={isDeclared}
        onClick={() => onTask({ kind: 'edit', account })}
      />
      <IconButton
        icon={TrendingUp}
        label={`Raise ${path}`}
        disabled={budgets.length === 0}
        onClick={() => onTask({ kind: 'raise', account })}
      />
      <IconButton
        icon={Trash2}
        label={`Delete ${path}`}
        disabled={origin !== 'stored'}
        onClick={() => onTask({ kind: 'delete', account })}
      />
    </span>
  );
}
