import { useSearch } from '../../lib/use-search.ts';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { CapabilityMatrix } from './capability-matrix.tsx';
import { ProviderCards } from './provider-cards.tsx';
import './providers.css';

export default function ProvidersPage() {
  const [search, setSearch] = useSearch();
  const tab = search.get('tab') === 'capabilities' ? 'capabilities' : 'providers';
  return (
    <Page title="Providers" description="Where requests can go, and what each place understands.">
      <Tabs
        label="Views"
        value={tab}
        onChange={(value) => setSearch({ tab: value === 'providers' ? undefined : value })}
        tabs={[
          { value: 'providers', label: 'Providers', content: <ProviderCards /> },
          { value: 'capabilities', label: 'Capabilities', content: <CapabilityMatrix /> },
        ]}
      />
    </Page>
  );
}
