import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { MODULE_RULES } from '../../host/registry/check-module.ts';
import { filesIn, nodesOf, read } from '../architecture/source.ts';
import { runGw, temporaryFolder } from '../kit/index.ts';
import { codes, tableRows } from './tables.ts';

const PAGE = 'modules.md';

/** First cells of the table whose heading row begins with this cell. */
function firstCells(heading: string): string[] {
  const [, after] = read(`docs/${PAGE}`).split(`\n| ${heading} |`);
  if (after === undefined) throw new Error(`docs/${PAGE} has no table "${heading}"`);
  const rows = after.split('\n').slice(2);
  return rows
    .slice(
      0,
      rows.findIndex((row) => !row.startsWith('|')),
    )
    .map((row) => codes(row)[0] ?? '');
}

/** Members of an interface of the contract, without those that the helpers stamp. */
function members(path: string, name: string): string[] {
  const declaration = nodesOf(path, read(path), 'TSInterfaceDeclaration').find((node) => node['id'].name === name);
  if (!declaration) throw new Error(`${path} declares no ${name}`);
  const names = (declaration['body'].body as readonly { readonly key: { readonly name: string } }[]).map(
    ({ key }) => key.name,
  );
  return names.filter((member) => member !== 'kind' && member !== 'contract');
}

/** Code blocks whose first line names the file they are: path, text. */
function sampleFiles(): [path: string, text: string][] {
  return [...read(`docs/${PAGE}`).matchAll(/```ts\n\/\/ (\S+)\n([\s\S]*?)```/g)].map(([, path = '', text = '']) => [
    path,
    text,
  ]);
}

/** What of a history is taken has a row for each of its members. */
const withHistory = (names: readonly string[]): string[] =>
  names.flatMap((name) =>
    name === 'history'
      ? members('host/contract/provider/provider-facts.ts', 'HistoryTraits').map((each) => `history.${each}`)
      : [name],
  );

describe('docs/modules.md', () => {
  const tables: readonly (readonly [heading: string, file: string, name: string])[] = [
    ['Field of a plugin', 'plugin', 'PluginModule'],
    ['Handler', 'plugin', 'PluginHandlers'],
    ["Of the plugin's `deps`", 'plugin', 'PluginDeps'],
    ['Field of a strategy', 'strategy', 'StrategyModule'],
    ['Of the notes', 'strategy', 'RankNotes'],
    ['Of the query', 'strategy', 'RouteQuery'],
    ["Of the strategy's `deps`", 'strategy', 'StrategyDeps'],
    ['Of the exchange', 'exchange', 'Exchange'],
    ['Of a running strategy', 'strategy', 'RunningStrategy'],
    ['Of a settled call', 'strategy', 'SettledCall'],
    ['Field of a provider', 'provider/provider', 'ProviderModule'],
    ['Of the connection', 'provider/connection', 'Connection'],
    ['Of `chatTraits`', 'provider/provider-facts', 'ChatTraits'],
  ];
  for (const [heading, file, name] of tables) {
    it(`lists every member of ${name}, and nothing else`, () => {
      const all = members(`host/contract/${file}.ts`, name);
      expect(firstCells(heading)).to.have.members(name === 'ChatTraits' ? withHistory(all) : all);
    });
  }

  it('lists every rule about modules, and no other', () => {
    const used = filesIn('host/registry').flatMap((path) =>
      [...read(path).matchAll(/'(MV\d\d)'/g)].map(([, id]) => id ?? ''),
    );
    const listed = tableRows(PAGE)
      .map(([rule]) => codes(rule)[0] ?? '')
      .filter((rule) => /^MV\d\d$/.test(rule));
    expect(listed).to.deep.equal([...new Set(used)].toSorted());
    expect(listed).to.include.members(MODULE_RULES.map(({ id }) => id));
  });

  it('lists every function of gw/testing', async () => {
    const cells = firstCells('Of `gw/testing`').length; // the table is there
    const text = read(`docs/${PAGE}`);
    expect(cells).to.be.greaterThan(0);
    for (const name of Object.keys(await import('gw/testing'))) expect(text, name).to.include(`\`${name}`);
  });

  it('lists every verdict', () => {
    const helpers = nodesOf('host/contract/verdict.ts', read('host/contract/verdict.ts'), 'FunctionDeclaration').map(
      (node) => String(node['id'].name),
    );
    expect(firstCells('Verdict').map((cell) => cell.replace(/\(.*/, ''))).to.have.members(['undefined', ...helpers]);
  });

  it('shows modules that pass every check as they stand', async () => {
    const folder = await temporaryFolder();
    const samples = sampleFiles();
    expect(samples.map(([path]) => path)).to.deep.equal([
      'plugins/max-prompt-chars.ts',
      'strategies/quickest.ts',
      'providers/acme/index.ts',
    ]);
    for (const [path, text] of samples) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    const plugin =
      'plugins: [{ name: max-prompt-chars, stage: before_request, enabled: true, config: { max_chars: 9 } }]';
    await writeFile(
      join(folder, 'config.yaml'),
      `strategy: { mode: quickest }\ntargets: [{ virtual_key: acme }]\n${plugin}\n`,
    );
    const { code, stderr } = await runGw(['validate', join(folder, 'config.yaml')]);
    expect(stderr).to.equal('');
    expect(code).to.equal(0);
  });
});
