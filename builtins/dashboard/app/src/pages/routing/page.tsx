import { usePolled } from '../../api/polling.ts';
import type { GatewayConfig } from '../../api/wire.ts';
import { useSearch } from '../../lib/use-search.ts';
import { useApi } from '../../services.ts';
import { SelectField } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { Loaded } from '../../ui/states.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { ExplainView } from './explain-view.tsx';
import { GroupView } from './group-view.tsx';
import { groupsOf } from './groups.ts';
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
                {(config) => <Strategies config={config} />}
              </Loaded>
            ),
          },
          { value: 'explain', label: 'Explain', content: <ExplainView knowsSessions={isFleet(reading.data)} /> },
        ]}
      />
    </Page>
  );
}

/** Whether the configuration has what sessions and groups are for. */
const isFleet = (config: GatewayConfig | undefined): boolean =>
  config !== undefined &&
  (config.providers !== undefined || config.models !== undefined || config.strategy?.affinity !== undefined);

/** The strategy of targets, or of the group that is chosen; without groups there is nothing to choose. */
function Strategies({ config }: { readonly config: GatewayConfig }) {
  const [search, setSearch] = useSearch();
  const groups = groupsOf(config);
  const chosen = groups.find(({ name }) => name === search.get('group'));
  return (
    <>
      {groups.length > 0 && (
        <div className="routing-choice">
          <SelectField
            label="Requests for"
            value={chosen?.name ?? ''}
            onChange={(event) => setSearch({ group: event.target.value })}
          >
            <option value="">models in no group (default)</option>
            {groups.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </SelectField>
        </div>
      )}
      {chosen ? <GroupView config={config} group={chosen} /> : <StrategyView config={config} />}
    </>
  );
}
