import { useSearch } from '../../lib/use-search.ts';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { CoverageView } from './coverage-view.tsx';
import { PluginsView } from './plugins-view.tsx';
import './plugins.css';

export default function PluginsPage() {
  const [search, setSearch] = useSearch();
  const tab = search.get('tab') === 'coverage' ? 'coverage' : 'plugins';
  return (
    <Page title="Plugins" description="What looks at requests and answers, and may refuse or change them.">
      <Tabs
        label="Views"
        value={tab}
        onChange={(value) => setSearch({ tab: value === 'plugins' ? undefined : value })}
        tabs={[
          { value: 'plugins', label: 'Plugins', content: <PluginsView /> },
          { value: 'coverage', label: 'Coverage', content: <CoverageView /> },
        ]}
      />
    </Page>
  );
}
