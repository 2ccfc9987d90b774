import { useState } from 'react';
import { Network, Plus } from 'lucide-react';
import type { Accounts } from '../../api/answers.ts';
import { usePolled } from '../../api/polling.ts';
import { count } from '../../lib/format.ts';
import { offsetIn, withQuery } from '../../lib/query-string.ts';
import { useUnsent } from '../../lib/use-unsent.ts';
import { useSearch } from '../../lib/use-search.ts';
import { useApi, useCanWrite } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { FilterText } from '../../ui/filter-text.tsx';
import { Filters } from '../../ui/form.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { AccountDialog, type AccountTask } from './account-dialogs.tsx';
import { AccountTable } from './account-table.tsx';

const PAGE = 50;
const EVERY_SECONDS = 60;

/** Accounts and tags, with what is spent of their budgets. */
export function AccountList() {
  const api = useApi();
  const canWrite = useCanWrite();
  const [search, change] = useSearch();
  const [task, setTask] = useAccountTask();
  const [q, under] = [search.get('q') ?? '', search.get('under') ?? ''];
  const offset = offsetIn(search);
  const reading = usePolled<Accounts>({
    key: ['accounts', q, under, offset],
    everySeconds: EVERY_SECONDS,
    read: (signal) => api.json(withQuery('/admin/accounts', { q, under, offset, limit: PAGE }), { signal }),
    keepsLast: true,
  });
  const isFiltered = q !== '' || under !== '';
  const create = canWrite && (
    <Button tone="primary" icon={Plus} onClick={() => setTask({ kind: 'create', path: under })}>
      Create account
    </Button>
  );
  return (
    <>
      <Loaded reading={reading} what="Accounts">
        {({ data, summary }) => (
          <Panel title="Accounts and tags" isFlush actions={create}>
            <div className="panel-filters">
              <Filters label="Which accounts">
                <FilterText
                  label="Search"
                  value={q}
                  placeholder="Part of path or title"
                  onChange={(text) => change({ q: text || undefined, offset: undefined })}
                />
                <FilterText
                  label="Below"
                  value={under}
                  placeholder="/acme"
                  onChange={(text) => change({ under: text || undefined, offset: undefined })}
                />
              </Filters>
              <p className="visually-hidden" role="status">
                {count(summary.total, 'account')}
              </p>
            </div>
            {data.length === 0 ? (
              <NoAccounts isFiltered={isFiltered} />
            ) : (
              <AccountTable
                accounts={data}
                onTask={setTask}
                onUnder={(path) => change({ under: path, q: undefined, offset: undefined })}
              />
            )}
            {summary.total > PAGE && (
              <Pager
                offset={offset}
                limit={PAGE}
                total={summary.total}
                onChange={(next) => change({ offset: next === 0 ? undefined : String(next) })}
              />
            )}
          </Panel>
        )}
      </Loaded>
      {task && canWrite && <AccountDialog key={task.kind} task={task} onTask={setTask} />}
    </>
  );
}

/** What is written into a form outlives a session that ends meanwhile; a question whether to delete does not. */
function useAccountTask(): readonly [AccountTask | undefined, (task: AccountTask | undefined) => void] {
  const [kept, keep] = useUnsent<{ readonly task?: AccountTask }>('account task', () => ({}));
  const [asked, ask] = useState<AccountTask>();
  const change = (task: AccountTask | undefined): void => {
    const isKept = task?.kind === 'create' || task?.kind === 'edit';
    keep(isKept ? { task } : {});
    ask(isKept ? undefined : task);
  };
  return [asked ?? kept.task, change];
}

function NoAccounts({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered ? (
    <Empty icon={Network} title="No account fits these filters" />
  ) : (
    <Empty icon={Network} title="No accounts yet">
      An account such as /acme/search has budgets and limits that all keys below it share.
    </Empty>
  );
}
