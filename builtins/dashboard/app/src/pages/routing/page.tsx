import { usePolled } from '../../api/polling.ts';
import type { GatewayConfig } from '../../api/wire.ts';
import { useSearch } from '../../lib/use-search.ts';
import { useApi } from '../../services.ts';
import { Page } from '../../ui/page.tsx';
import { Loaded } from '../../ui/states.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { ExplainView } from './explain-view.tsx';
import { StrategyView } from './strategy-view.tsx';
import './routing.css';

export default function RoutingPage() {
  const api = useApi();
  const [search, setSearch] = useSearch();
  const reading = usePolled<GatewayConfig>({
    key: ['config'],
    everySeconds: 60,
    read: (signal) => api.json('/admin/config', { signal }),
  });
  const tab = search.get('tab') === 'explain' ? 'explain' : 'strategy';
  return (
    <Page title="Routing Strategies" description="Which target a request tries first, which ones after it, and why.">
      <Tabs
        label="Views"
        value={tab}
        onChange={(value) => setSearch({ tab: value === 'strategy' ? undefined : value })}
        tabs={[
          {
            value: 'strategy',
            label: 'Strategy',
            content: (
              <Loaded reading={reading} what="The configuration">
                {(config) => <StrategyView config={config} />}
              </Loaded>
            ),
          },
          { value: 'explain', label: 'Explain', content: <ExplainView /> },
        ]}
      />
    </Page>
  );
}
