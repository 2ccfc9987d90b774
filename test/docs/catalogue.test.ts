import { expect } from 'chai';
import { MODULES } from '../../builtins/manifest.ts';
import type { PluginModule, ProviderModule, StrategyModule } from '../../host/contract/index.ts';
import { failsOpen } from '../../host/pipeline/guards/plugin-policy.ts';
import { baseUrlVariable } from '../../host/environment/base-url-variable.ts';
import { codes, rowsUnder } from './tables.ts';

const PAGES = { plugin: 'plugins.md', strategy: 'strategies.md' } as const;
const code = (text: string): string => `\`${text}\``;
const list = (names: readonly string[]): string => names.map(code).join(', ');

function ofKind<M extends PluginModule | ProviderModule | StrategyModule>(kind: M['kind']): M[] {
  return MODULES.filter((module) => module.kind === kind).toSorted((a, b) => (a.name < b.name ? -1 : 1)) as M[];
}

interface Described {
  readonly keys?: Readonly<
    Record<string, { readonly flags?: { readonly default?: unknown; readonly presence?: string } }>
  >;
}

/** Settings in their order, with the defaults the schema fills in; `required` and `unset` where it fills in none. */
function settingsOf({ settings }: PluginModule | StrategyModule): string[][] {
  const { keys = {} } = settings.describe() as Described;
  return Object.entries(keys).map(([name, { flags = {} }]) => {
    if (flags.presence === 'required') return [code(name), 'required'];
    return [code(name), flags.default === undefined ? 'unset' : code(JSON.stringify(flags.default))];
  });
}

function providerRow(module: ProviderModule): string[] {
  const { name, connection, wire, translators, offline, passthrough, batches, responses } = module;
  const variables = connection.env
    .map((need) => (typeof need === 'string' ? code(need) : need.map(code).join(' or ')))
    .join(', ');
  const root = typeof connection.baseUrl === 'string' ? code(connection.baseUrl) : 'composed';
  const also = Object.entries({ offline, 'pass-through': passthrough, batches, responses })
    .filter(([, isOn]) => isOn)
    .map(([what]) => what);
  return [
    code(name),
    variables || 'none',
    offline ? 'none' : `${root}, or ${code(baseUrlVariable(module))}`,
    code(wire),
    list(Object.keys(translators)),
    also.join(', ') || 'nothing',
  ];
}

describe('docs/plugins.md and docs/strategies.md', () => {
  const plugins = ofKind<PluginModule>('plugin');
  const strategies = ofKind<StrategyModule>('strategy');

  it('lists every shipped plugin with type, stages, what a fault does and its summary', () => {
    const rows = plugins.map((module) => [
      code(module.name),
      code(module.type),
      list(module.stages),
      failsOpen(module) ? 'open' : 'closed',
      module.summary,
    ]);
    expect(rowsUnder(PAGES.plugin, '## Plugins')).to.deep.equal(rows);
  });

  it('lists every shipped strategy with what a failure does and its summary', () => {
    const rows = strategies.map(({ name, advances, summary }) => [
      code(name),
      advances ? 'next target' : 'error',
      summary,
    ]);
    expect(rowsUnder(PAGES.strategy, '## Strategies')).to.deep.equal(rows);
  });

  for (const module of [...plugins, ...strategies].filter((each) => settingsOf(each).length > 0)) {
    it(`lists the settings of the ${module.kind} ${module.name} in their order, with default and meaning`, () => {
      const rows = rowsUnder(PAGES[module.kind], `### ${code(module.name)}`);
      expect(rows.map((row) => row.slice(0, 2))).to.deep.equal(settingsOf(module));
      for (const row of rows) expect(row[2], row[0]).to.match(/\w{3}/);
    });
  }
});

describe('docs/providers.md', () => {
  const providers = ofKind<ProviderModule>('provider');

  it('lists every shipped provider with variables, address, wire, surfaces and what else it serves', () => {
    expect(rowsUnder('providers.md', '## Providers')).to.deep.equal(providers.map(providerRow));
  });

  it('lists the variables that name models, and the models without them', () => {
    const models = ({ connection }: ProviderModule): readonly string[] => connection.models?.({}, () => {}) ?? [];
    const configured = providers.filter((module) => !module.offline && models(module).length > 0);
    const rows = rowsUnder('providers.md', '## Models');
    expect(rows.map(([name]) => name)).to.deep.equal(configured.map(({ name }) => code(name)));
    expect(rows.map(([, variables]) => codes(variables))).to.deep.equal(
      configured.map(({ connection }) => connection.optionalEnv),
    );
    expect(rows.map(([, , list]) => codes(list))).to.deep.equal(configured.map(models));
  });

  it('tells what differs of shipped providers only, in their order', () => {
    const names = rowsUnder('providers.md', '## What differs').map(([name]) => codes(name)[0] ?? '');
    expect(names).to.deep.equal(providers.map(({ name }) => name).filter((name) => names.includes(name)));
  });
});
