import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { rowOf, withTable } from '../../builtins/cli/build/configuration-page.ts';
import { flagsOf } from '../../host/config/json-schema/setting-schema.ts';
import { MODULES } from '../../builtins/manifest.ts';
import type { PluginModule, ProviderModule, StrategyModule } from '../../host/contract/index.ts';
import { failsOpen } from '../../host/pipeline/guards/plugin-policy.ts';
import { baseUrlVariable } from '../../host/common/kinds/base-url-variable.ts';
import { describedAt, keysOf } from '../../host/config/schema/schema-walk.ts';
import { read, ROOT } from '../architecture/source.ts';
import { isHeld } from '../providers/places.ts';
import { codes, rowsUnder } from './tables.ts';

type Governing = PluginModule | StrategyModule;

const PAGES = { plugin: 'plugins.md', strategy: 'strategies.md' } as const;
const code = (text: string): string => `\`${text}\``;
const list = (names: readonly string[]): string => names.map(code).join(', ');

function ofKind<M extends PluginModule | ProviderModule | StrategyModule>(kind: M['kind']): M[] {
  return MODULES.filter((module) => module.kind === kind).toSorted((a, b) => (a.name < b.name ? -1 : 1)) as M[];
}

const SETTINGS = '| Setting | Default | Meaning |\n|---|---|---|\n';

/** Settings in their order, with the defaults the schema fills in, and their meaning; `required` and `unset` where it fills in none. */
function settingsOf({ settings }: Governing): string[][] {
  const schema = settings.describe();
  return keysOf(schema).map((name) => {
    const { presence, default: otherwise, description = '' } = flagsOf(describedAt(schema, [name]));
    if (presence === 'required') return [code(name), 'required', description];
    return [code(name), otherwise === undefined ? 'unset' : code(JSON.stringify(otherwise)), description];
  });
}

/** A page with the settings of these modules as their schemas have them. All beside their tables is written by hand. */
const withSettings = (page: string, modules: readonly Governing[]): string =>
  modules.reduce(
    (text, module) =>
      withTable(text, { heading: code(module.name), head: SETTINGS, rows: settingsOf(module).map(rowOf) }),
    page,
  );

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
    connection.onlyDeclared ? 'the [configuration](#declared-instances)' : variables || 'none',
    offline ? 'none' : connection.onlyDeclared ? '`base_url`' : `${root}, or ${code(baseUrlVariable(module))}`,
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

  for (const modules of [plugins, strategies]) {
    const page = PAGES[modules[0]!.kind];
    it(`lists in ${page} the settings of every module as its schema has them; else run "npm run docs:settings"`, () => {
      const path = `docs/${page}`;
      const settable = modules.filter((module) => settingsOf(module).length > 0);
      if (process.env['GW_WRITE_DOCS']) writeFileSync(join(ROOT, path), withSettings(read(path), settable));
      expect(settable).to.have.length.above(3);
      for (const module of settable)
        expect(rowsUnder(page, `### ${code(module.name)}`), module.name).to.deep.equal(settingsOf(module));
    });
  }
});

describe('docs/providers.md', () => {
  const providers = ofKind<ProviderModule>('provider').filter(({ name }) => isHeld(name, 'docs/providers.md'));
  /** Rows of providers that there are; test/providers/places.test.ts names the others. */
  const rowsOf = (heading: string): string[][] =>
    rowsUnder('providers.md', heading).filter(([name]) => isHeld(codes(name)[0] ?? '', 'docs/providers.md'));

  it('lists every shipped provider with variables, address, wire, surfaces and what else it serves', () => {
    expect(rowsOf('## Providers')).to.deep.equal(providers.map(providerRow));
  });

  it('lists the variables that name models, and the models without them', () => {
    const models = ({ connection }: ProviderModule): readonly string[] => connection.models?.({}, () => {}) ?? [];
    const configured = providers.filter((module) => !module.offline && models(module).length > 0);
    const rows = rowsOf('## Models');
    expect(rows.map(([name]) => name)).to.deep.equal(configured.map(({ name }) => code(name)));
    expect(rows.map(([, variables]) => codes(variables))).to.deep.equal(
      configured.map(({ connection }) => connection.optionalEnv),
    );
    expect(rows.map(([, , list]) => codes(list))).to.deep.equal(configured.map(models));
  });

  it('tells what differs of shipped providers only, in their order', () => {
    const names = rowsOf('## What differs').map(([name]) => codes(name)[0] ?? '');
    expect(names).to.deep.equal(providers.map(({ name }) => name).filter((name) => names.includes(name)));
  });
});
