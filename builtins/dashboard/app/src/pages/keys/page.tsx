import { useSearch } from '../../lib/use-search.ts';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { KeyList } from './key-list.tsx';
import { SessionList } from './session-list.tsx';
import '../../styles/records.css';
import './keys.css';

export default function KeysPage() {
  const [search, change] = useSearch();
  const tab = search.get('tab') === 'sessions' ? 'sessions' : 'keys';
  return (
    <Page title="API Keys" description="Credentials of applications and people, and who is signed in with them.">
      <Tabs
        label="Keys and sessions"
        value={tab}
        onChange={(next) =>
          change({ tab: next === 'keys' ? undefined : next, sort: undefined, active: undefined, offset: undefined })
        }
        tabs={[
          { value: 'keys', label: 'Keys', content: <KeyList /> },
          { value: 'sessions', label: 'Sessions', content: <SessionList /> },
        ]}
      />
    </Page>
  );
}
