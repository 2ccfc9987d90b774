import type { ReactNode } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import type { Account } from '../../api/answers.ts';
import { useApi } from '../../services.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { AccountForm } from './account-form.tsx';
import type { TypedAccount } from './account-text.ts';
import { RaiseForm } from './raise-form.tsx';

/** What is being done, and to which account. */
export type AccountTask =
  | { readonly kind: 'create'; readonly path: string; readonly typed?: TypedAccount }
  | { readonly kind: 'edit'; readonly account: Account; readonly typed?: TypedAccount }
  | { readonly kind: 'raise' | 'delete'; readonly account: Account };

interface TaskProps {
  readonly task: AccountTask;
  readonly onTask: (task: AccountTask | undefined) => void;
}

/** The dialog of the task. A refusal is shown inside it, and nothing has changed then. */
export function AccountDialog({ task, onTask }: TaskProps): ReactNode {
  const api = useApi();
  const queries = useQueryClient();
  const close = (): void => onTask(undefined);
  /** The list is read before the dialog closes: what is edited next is what is there now. */
  const changed = async (): Promise<void> => {
    await queries.invalidateQueries({ queryKey: ['accounts'] });
    close();
  };
  if (task.kind === 'create')
    return (
      <AccountForm
        title="Create an account or a tag"
        action="Create"
        path={task.path === '' ? '/' : task.path}
        typed={task.typed}
        onType={(typed) => onTask({ ...task, typed })}
        onClose={close}
        onSubmit={async (body) => {
          await api.json('/admin/accounts', { method: 'POST', body });
          await changed();
        }}
      />
    );
  const { account } = task;
  const route = `/admin/accounts/${account.id}`;
  if (task.kind === 'edit')
    return (
      <AccountForm
        title={`Edit ${account.path}`}
        action="Save changes"
        edited={account}
        typed={task.typed}
        onType={(typed) => onTask({ ...task, typed })}
        onClose={close}
        onSubmit={async (body) => {
          await api.json(route, { method: 'PUT', body, headers: { 'If-Match': `"${account.version}"` } });
          await changed();
        }}
      />
    );
  if (task.kind === 'raise')
    return (
      <RaiseForm
        account={account}
        onClose={close}
        onRaise={async (body) => {
          await api.json(`${route}/raises`, { method: 'POST', body });
          await changed();
        }}
        onEnd={async (id) => {
          await api.json(`${route}/raises/${encodeURIComponent(id)}`, { method: 'DELETE' });
          await changed();
        }}
      />
    );
  return (
    <ConfirmDialog
      title={`Delete ${account.path}?`}
      action="Delete"
      isDangerous
      onClose={close}
      onConfirm={async () => {
        await api.json(route, { method: 'DELETE', headers: { 'If-Match': `"${account.version}"` } });
        await changed();
      }}
    >
      <p>
        What binds the keys below it, or the requests with the tag, is gone at once. What was spent stays in the spend.
      </p>
    </ConfirmDialog>
  );
}
