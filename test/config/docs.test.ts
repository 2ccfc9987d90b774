import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { configurationPage } from '../../builtins/cli/build/configuration-page.ts';
import { MODULES } from '../../builtins/manifest.ts';
import { SEARCH_PLACES } from '../../host/config/load.ts';
import { configSchema } from '../../host/config/schema/config-schema.ts';
import { block, integer } from '../../host/config/schema/schema-fields.ts';
import { temporaryFolder } from '../kit/index.ts';
import { commandHost, ROOT } from '../cli/commands.ts';
import { isHeld } from '../providers/places.ts';
import { schemaPlaces } from './places.ts';

const text = readFileSync(join(ROOT, 'docs/configuration.md'), 'utf8');

/** The part under a heading, to the next heading of its level or above. */
function section(heading: string): string {
  const level = /^#+/.exec(heading)?.[0].length ?? 0;
  const rest = text.slice(text.indexOf(`\n${heading}\n`) + heading.length + 1);
  const end = rest.search(new RegExp(`^#{1,${level}} `, 'm'));
  return end === -1 ? rest : rest.slice(0, end);
}

/** Rows of the tables in a part: what stands in backticks in the first column, and the whole row. */
function rows(part: string): { first: string; row: string }[] {
  return [...part.matchAll(/^\| `([^`]+)` \|.*$/gm)].map((found) => ({ first: found[1] ?? '', row: found[0] }));
}

/** Rule ids as the code that reports them has them. */
async function ruleIds(): Promise<string[]> {
  const files = globSync('{host,builtins,strategies,plugins}/**/*.ts', { cwd: ROOT });
  const spelt = files.flatMap(
    (file) => readFileSync(join(ROOT, file), 'utf8').match(/(?<=')(?:DC|CV|BV|MV|PB|WN)\d\d[a-z]?(?=')/g) ?? [],
  );
  const { checkConfig, checkModule } = commandHost({ cwd: await temporaryFolder() }).hooks;
  return [...new Set([...spelt, ...[...checkConfig.taps, ...checkModule.taps].map(({ name }) => name)])];
}

describe('docs/configuration.md', () => {
  it('says of every key what the schema says; else run "npm run docs:config"', () => {
    expect(configurationPage(text)).to.equal(text);
  });

  it('gets the row of a new key of the schema, in the place of the key, and keeps what is written by hand', () => {
    const toy = block('for this test', {
      toy: integer('how many toys', { otherwise: 5, min: 1, max: 9, bounds: 'odd' }),
    });
    const row = '| `mcp.toy` | integer | 5 | 1 to 9, odd | how many toys |\n';
    const changed = configurationPage(text, configSchema.keys({ mcp: toy }).describe());
    expect(changed).to.contain(`| \`mcp\` | block | | | for this test |\n${row}`);
    expect(changed.replace(row, '').split('\n').slice(0, 30)).to.deep.equal(text.split('\n').slice(0, 30));
    expect(changed.split('## `${VAR}` references')[1]).to.equal(text.split('## `${VAR}` references')[1]);
  });

  it('has every key of the schema once, and no other', () => {
    expect(rows(section('## Keys')).map(({ first }) => first)).to.have.members(schemaPlaces());
  });

  it('has every rule of the product once, and no other', async () => {
    expect(rows(section('## Rules')).map(({ first }) => first)).to.have.members(await ruleIds());
  });

  it('says what to do about every rule', () => {
    for (const { first, row } of rows(section('## Rules'))) {
      expect(
        row.split(' | ').filter((cell) => cell.replaceAll('|', '').trim() !== ''),
        first,
      ).to.have.length(3);
    }
  });

  it('has every environment variable that the settings read, and no other', () => {
    const source = [
      'settings',
      'ending-settings',
      'config-env',
      'tls-settings',
      'listener-settings',
      'state-settings',
      'store-settings',
      'worker-settings',
    ]
      .map((name) => readFileSync(join(ROOT, `host/environment/${name}.ts`), 'utf8'))
      .join('\n');
    const read = source.match(/(?<=variables\['|variables, ')[A-Z_]+(?=')/g) ?? [];
    const [own = ''] = section('## Environment variables').split('### Provider credentials');
    expect(rows(own).map(({ first }) => first)).to.have.members([...new Set(read)]);
  });

  it('has the variables of every shipped provider, and no other', () => {
    const needed = MODULES.flatMap((module) =>
      module.kind === 'provider' && isHeld(module.name, 'docs/configuration.md')
        ? module.connection.env.flat().map((variable) => `${variable} ${module.name}`)
        : [],
    );
    const documented = [...section('### Provider credentials').matchAll(/^\| `([A-Z_0-9]+)` \| `([a-z0-9-]+)` \|$/gm)]
      .filter(([, , provider = '']) => isHeld(provider, 'docs/configuration.md'))
      .map(([, variable, provider]) => `${variable} ${provider}`);
    expect(documented).to.have.members(needed);
  });

  it('names the files that are found by themselves, in their order', () => {
    const documented = [...section('## Where it comes from').matchAll(/`((?:gw\.)?config\.(?:ya?ml|json))`/g)].map(
      ([, name]) => name,
    );
    expect(documented).to.deep.equal(SEARCH_PLACES);
  });
});
