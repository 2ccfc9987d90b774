import type { GatewayConfig, GroupConfig, RouteConfig } from '../../api/wire.ts';
import { rowsIn } from '../../lib/fields.ts';
import { DASH } from '../../lib/format.ts';
import { Panel } from '../../ui/panel.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { type ChainLink, chainOf } from './groups.ts';
import { ActiveMode, Rules } from './strategy-view.tsx';

/** What a group is routed by unless it says otherwise. */
const DEFAULT_MODE = 'fallback';

/** The strategy of one group, its routes in their order, and what follows behind them. */
export function GroupView({ config, group }: { readonly config: GatewayConfig; readonly group: GroupConfig }) {
  const strategy = group.strategy ?? {};
  const mode = strategy.mode || DEFAULT_MODE;
  const routes = rowsIn(group.routes);
  return (
    <>
      <ActiveMode mode={mode} strategy={strategy} />
      <Panel
        title="Routes"
        description={
          group.listed === false
            ? 'In declared order. The name is served, and not listed to clients.'
            : 'In declared order.'
        }
        isFlush
      >
        <Table
          label="Routes"
          columns={ROUTE_COLUMNS}
          rows={routes.map((route, at) => ({ ...route, place: at + 1 }))}
          rowKey={({ place }) => String(place)}
        />
      </Panel>
      <Rules mode={mode} strategy={strategy} />
      <Panel title="Fallbacks" description="Tried behind the last route, one after the other." isFlush>
        <Fallbacks links={chainOf(config, group)} />
      </Panel>
    </>
  );
}

type Route = RouteConfig & { readonly place: number };

const ROUTE_COLUMNS: readonly Column<Route>[] = [
  { key: 'place', header: 'Place', cell: ({ place }) => place },
  { key: 'target', header: 'Target', cell: ({ target }) => <b className="break">{target}</b> },
  {
    key: 'model',
    header: 'Calls',
    cell: ({ model }) =>
      model === undefined ? <span className="muted">the name asked for</span> : <code className="break">{model}</code>,
  },
  { key: 'weight', header: 'Weight', isFigure: true, cell: ({ weight }) => weight ?? DASH },
];

const CHAIN_COLUMNS: readonly Column<ChainLink>[] = [
  { key: 'name', header: 'Name', cell: ({ name }) => <b className="break">{name}</b> },
  {
    key: 'served',
    header: 'Served by',
    cell: ({ alias, group }) => (
      <span className="break">
        {alias !== undefined && <>alias of {alias}, </>}
        {group === undefined ? 'the targets that have it, by the default strategy' : `the group ${group}`}
      </span>
    ),
  },
  { key: 'of', header: 'Fallback of', cell: ({ of }) => <span className="break">{of}</span> },
];

function Fallbacks({ links }: { readonly links: readonly ChainLink[] }) {
  if (links.length === 0) return <Empty title="No fallbacks">The error of the last route is the answer.</Empty>;
  return <Table label="Fallbacks" columns={CHAIN_COLUMNS} rows={links} rowKey={({ name, of }) => `${of} ${name}`} />;
}
