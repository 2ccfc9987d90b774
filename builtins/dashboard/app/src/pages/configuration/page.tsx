import { useState } from 'react';
import { RefreshCw, RotateCcw } from 'lucide-react';
import { useQueryClient } from '@tanstack/react-query';
import { isNotConfigured } from '../../api/api-error.ts';
import type { ApiClient } from '../../api/client.ts';
import { given, usePolled } from '../../api/polling.ts';
import { sendingOf } from '../../lib/config-sending.ts';
import { useSearch } from '../../lib/use-search.ts';
import { useApi, useCanWrite } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Page } from '../../ui/page.tsx';
import { Banner, Loaded } from '../../ui/states.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { ApplyDialog } from './apply-dialog.tsx';
import { ConfigForm } from './config-form.tsx';
import { readText } from './document-text.ts';
import { type Active, useDraft } from './draft.ts';
import { EditorTab } from './editor-tab.tsx';
import { HistoryTab } from './history-tab.tsx';
import { useVerdict } from './validation.ts';
import { VerdictView } from './verdict-view.tsx';
import './configuration.css';

type Task = 'apply' | 'discard' | 'refresh' | 'revert';

const ACTIVE = ['config', 'active'];

async function readActive(api: ApiClient, signal?: AbortSignal): Promise<Active> {
  const { data, headers } = await api.answered('/admin/config', signal ? { signal } : {});
  return { config: given(data), etag: headers.get('etag') };
}

export default function ConfigurationPage() {
  const api = useApi();
  const reading = usePolled<Active>({ key: ACTIVE, read: (signal) => readActive(api, signal) });
  return (
    <Page
      title="Configuration"
      description="What the gateway serves by. A change takes hold at once; requests under way end with what they began with."
    >
      <Loaded reading={reading} what="Configuration">
        {(active) => <Workbench active={active} />}
      </Loaded>
    </Page>
  );
}

/** The draft, the views of it, and what can be done with it. */
function Workbench({ active }: { readonly active: Active }) {
  const api = useApi();
  const canWrite = useCanWrite();
  const queries = useQueryClient();
  const [search, change] = useSearch();
  const [task, setTask] = useState<Task>();
  const [notice, setNotice] = useState<string>();
  const draft = useDraft(active);
  const verdict = useVerdict(draft, canWrite && draft.isDirty);
  const reading = readText(draft.text, draft.language);
  const tab = ['form', 'history'].includes(search.get('tab') ?? '') ? (search.get('tab') ?? '') : 'editor';
  const reload = async (): Promise<void> => {
    draft.discard();
    setTask(undefined);
    await queries.invalidateQueries({ queryKey: ['config'] });
  };
  const compareWithNewest = async (): Promise<void> => {
    const newest = await readActive(api);
    draft.rebase(newest);
    queries.setQueryData(ACTIVE, newest);
    await queries.invalidateQueries({ queryKey: ['config', 'history'] });
  };
  const applied = (): void => {
    setNotice('The configuration is active.');
    draft.discard();
    void reload();
  };
  return (
    <>
      {notice !== undefined && <Banner tone="ok">{notice}</Banner>}
      {canWrite && draft.isDirty && (
        <div className="draft-bar">
          <VerdictView verdict={verdict} />
          <div className="row">
            <Button onClick={() => setTask('discard')}>Discard</Button>
            <Button
              tone="primary"
              disabled={verdict.kind === 'invalid' || verdict.kind === 'checking'}
              onClick={() => setTask('apply')}
            >
              Review and apply
            </Button>
          </div>
        </div>
      )}
      <div className="config-tabs">
        <div className="config-tasks">
          <Button
            size="small"
            icon={RefreshCw}
            onClick={() => {
              if (draft.isDirty) setTask('refresh');
              else void reload();
            }}
          >
            Refresh
          </Button>
          <RevertButton onPress={() => setTask('revert')} />
        </div>
        <Tabs
          label="Views of the configuration"
          value={tab}
          onChange={(next) => change({ tab: next === 'editor' ? undefined : next })}
          tabs={[
            {
              value: 'editor',
              label: 'Editor',
              content: <EditorTab draft={draft} verdict={verdict} canWrite={canWrite} />,
            },
            { value: 'form', label: 'Form', content: <ConfigForm draft={draft} canWrite={canWrite} /> },
            { value: 'history', label: 'History', content: <HistoryTab active={active.config} onNotice={setNotice} /> },
          ]}
        />
      </div>
      {task === 'apply' && reading.isRead && (
        <ApplyDialog
          key={draft.etag}
          sending={sendingOf(draft.base, reading.value, reading.written)}
          etag={draft.etag}
          onApplied={applied}
          onOutdated={compareWithNewest}
          onClose={() => setTask(undefined)}
        />
      )}
      {(task === 'discard' || task === 'refresh') && (
        <ConfirmDialog
          title="Discard your changes?"
          action="Discard changes"
          isDangerous
          onConfirm={reload}
          onClose={() => setTask(undefined)}
        >
          <p>What you changed here and did not apply is lost.</p>
        </ConfirmDialog>
      )}
      {task === 'revert' && (
        <RevertDialog
          onDone={(text) => {
            setNotice(text);
            void reload();
          }}
          onClose={() => setTask(undefined)}
        />
      )}
    </>
  );
}

function RevertButton({ onPress }: { readonly onPress: () => void }) {
  const canWrite = useCanWrite();
  const { data: isAbsent } = usePolled<boolean>({
    key: ['revert', 'absent'],
    read: async () => false,
    isEnabled: false,
  });
  return canWrite && isAbsent !== true ? (
    <Button size="small" icon={RotateCcw} onClick={onPress}>
      Revert to startup
    </Button>
  ) : null;
}

/** A gateway that cannot go back to its start says so once; then it is not offered again. */
function RevertDialog({ onDone, onClose }: { readonly onDone: (text: string) => void; readonly onClose: () => void }) {
  const api = useApi();
  const queries = useQueryClient();
  const revert = async (): Promise<void> => {
    try {
      await api.json('/admin/config', { method: 'DELETE' });
      onDone('The configuration of the start is active again.');
    } catch (error) {
      if (isNotConfigured(error)) queries.setQueryData(['revert', 'absent'], true);
      throw error;
    }
  };
  return (
    <ConfirmDialog
      title="Revert to the startup configuration?"
      action="Revert"
      isDangerous
      onConfirm={revert}
      onClose={onClose}
    >
      <p>
        The stored configuration is removed, and the one of the file, or the built-in default, becomes active at once.
        The history stays.
      </p>
    </ConfirmDialog>
  );
}
