import { Blocks } from 'lucide-react';
import { usePolled } from '../../api/polling.ts';
import { usePluginCatalog } from '../../api/plugin-catalog.ts';
import type { GatewayConfig, PluginDescription } from '../../api/wire.ts';
import { rowsIn } from '../../lib/fields.ts';
import { useApi } from '../../services.ts';
import { Panel } from '../../ui/panel.tsx';
import { Pill } from '../../ui/pill.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { enabledState, groupPlugins, type PluginGroup } from './groups.ts';

export function PluginsView() {
  const api = useApi();
  const config = usePolled<GatewayConfig>({
    key: ['config'],
    everySeconds: 60,
    read: (signal) => api.json('/admin/config', { signal }),
  });
  const catalog = usePluginCatalog();
  const configured = new Set(rowsIn(config.data?.plugins).map(({ name }) => name));
  return (
    <>
      <Loaded reading={config} what="The configuration">
        {({ plugins = [] }) => <Configured groups={groupPlugins(plugins, catalog.data)} />}
      </Loaded>
      <Panel title="Built in, not configured" isFlush>
        <Loaded reading={catalog} what="The catalogue">
          {({ data }) => <Others plugins={data.filter(({ name }) => !configured.has(name))} />}
        </Loaded>
      </Panel>
    </>
  );
}

function Configured({ groups }: { readonly groups: readonly PluginGroup[] }) {
  if (groups.length === 0)
    return (
      <Panel title="Configured">
        <Empty icon={Blocks} title="No plugins are configured">
          Add entries to <code>plugins</code> in the configuration.
        </Empty>
      </Panel>
    );
  return (
    <ul className="plugin-grid">
      {groups.map((group) => (
        <PluginCard key={group.name} group={group} />
      ))}
    </ul>
  );
}

function faultText({ description }: PluginGroup): string {
  if (!description) return 'This gateway has no plugin of that name.';
  return description.fails_open ? 'If it breaks, requests go on without it.' : 'If it breaks, requests are refused.';
}

function PluginCard({ group }: { readonly group: PluginGroup }) {
  const { name, type, description, entries, settings } = group;
  const state = enabledState(entries);
  return (
    <li className="plugin">
      <div className="plugin-head">
        <h2 className="plugin-name">{name}</h2>
        <Pill tone={state.tone} hasDot>
          {state.name}
        </Pill>
      </div>
      <p className="muted">{description?.summary ?? faultText(group)}</p>
      <p className="row">
        {type !== '' && <Pill tone="accent">{type}</Pill>}
        {entries.map(({ stage = '', enabled }, at) => (
          <Pill key={`${stage} ${at}`}>
            {stage}
            {enabled === true ? '' : ' (off)'}
          </Pill>
        ))}
      </p>
      {settings.length > 0 && (
        <dl className="definitions plugin-settings">
          {settings.map((setting) => (
            <div key={setting.name} className="plugin-setting">
              <dt>
                <code>{setting.name}</code>
              </dt>
              <dd>
                <code>{setting.value}</code>
                {setting.isRedacted && <Pill tone="warn">withheld</Pill>}
              </dd>
            </div>
          ))}
        </dl>
      )}
      {description && <p className="plugin-fault">{faultText(group)}</p>}
    </li>
  );
}

const COLUMNS: readonly Column<PluginDescription>[] = [
  { key: 'name', header: 'Plugin', isOneLine: true, cell: ({ name }) => <b>{name}</b> },
  { key: 'type', header: 'Type', cell: ({ type }) => type },
  { key: 'summary', header: 'What it does', cell: ({ summary }) => summary },
  {
    key: 'settings',
    header: 'Settings',
    cell: ({ settings }) => <span className="muted break">{settings.join(', ') || '–'}</span>,
  },
  {
    key: 'fault',
    header: 'If it breaks',
    isOneLine: true,
    cell: ({ fails_open }) => (fails_open ? 'goes on' : 'refuses'),
  },
];

function Others({ plugins }: { readonly plugins: readonly PluginDescription[] }) {
  return plugins.length === 0 ? (
    <Empty title="Every plugin is configured" />
  ) : (
    <Table label="Plugins that are not configured" columns={COLUMNS} rows={plugins} rowKey={({ name }) => name} />
  );
}
