import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { MODULES } from '../../builtins/manifest.ts';
import { runGw } from '../kit/index.ts';
import { ROOT, runCommand } from '../cli/commands.ts';
import { countPlaces, schemaPlaces } from './places.ts';

const text = readFileSync(join(ROOT, 'config.example.yaml'), 'utf8');
const lines = text.split('\n');
const example = parse(text) as Record<string, any>;

/** Keys without which an entry of a list is none, so that they stand in each. */
const IN_EACH_ENTRY = [
  'accounts[].path',
  'accounts[].rpm',
  'accounts[].budgets[].every',
  'accounts[].session.budgets[].every',
  'accounts[].child_default.budgets[].every',
  'accounts[].child_default.session.budgets[].every',
  'providers.<name>.kind',
  'providers.<name>.settings',
  'providers.<name>.<secret>',
  'providers.<name>.credentials',
  'providers.<name>.credentials[].name',
  'providers.<name>.credentials[].<secret>',
  'targets[].virtual_key',
  'plugins[].name',
  'plugins[].stage',
  'plugins[].enabled',
  'plugins[].config',
  'mcp_servers[].name',
  'identity.issuers[].name',
  'identity.issuers[].issuer',
  'identity.issuers[].bearer',
  'identity.issuers[].bearer.audiences',
  'identity.issuers[].access',
  'identity.issuers[].access[].access',
  'identity.issuers[].access[].when',
];

/** Blocks under a heading, with nothing to say but what their keys say. */
const SPEAK_FOR_THEMSELVES = new Set(['responses', 'files', 'tracing', '<secret>']);

/** The comment lines right above a line. */
function commentAbove(index: number): string[] {
  const first = lines.findLastIndex((line, at) => at < index && !/^\s*#/.test(line)) + 1;
  return lines.slice(first, index);
}

/** Lines that hold a key, whatever its depth: its name and its place in the file. */
const keyLines = lines.flatMap((line, index) => {
  const key = /^\s*(?:- )?([A-Za-z_]+):(?: |$)/.exec(line)?.[1];
  return key === undefined || line.trim().startsWith('#') ? [] : [{ key, index }];
});

describe('config.example.yaml', () => {
  it('is a valid configuration', async () => {
    const { code, stdout, stderr } = await runGw(['validate', join(ROOT, 'config.example.yaml')], { isCheckout: true });
    expect(stderr).to.equal('');
    expect(code).to.equal(0);
    expect(stdout).to.match(/^\[OK\] Config is valid\n/);
  });

  it('holds every key of the schema once, and no other', () => {
    const counts = countPlaces(example);
    expect([...counts.keys()]).to.have.members(schemaPlaces());
    const repeated = [...counts].filter(([, count]) => count > 1).map(([place]) => place);
    expect(IN_EACH_ENTRY).to.include.members(repeated);
  });

  it('shows every setting of every shipped plugin', () => {
    const shown = Object.fromEntries(
      (example['plugins'] as { name: string; config: object }[]).map(({ name, config }) => [name, Object.keys(config)]),
    );
    const declared = MODULES.flatMap((module) =>
      module.kind === 'plugin'
        ? [[module.name, Object.keys(module.settings.describe()['keys'] as object)] as const]
        : [],
    );
    expect(Object.keys(shown)).to.have.members(declared.map(([name]) => name));
    for (const [name, settings] of declared) expect(shown[name], name).to.have.members(settings);
  });

  it('names every shipped strategy and plugin', () => {
    for (const { kind, name } of MODULES)
      if (kind !== 'provider') expect(text, name).to.match(new RegExp(`(^|[^a-z-])${name}([^a-z-]|$)`, 'm'));
  });

  it('explains each key where it first stands', () => {
    const known = new Set(schemaPlaces().map((place) => place.split('.').at(-1) ?? ''));
    const bare = [...known].filter(
      (key) =>
        !SPEAK_FOR_THEMSELVES.has(key) &&
        commentAbove(keyLines.find((line) => line.key === key)?.index ?? 0).length === 0,
    );
    expect(bare).to.deep.equal([]);
  });

  it('reads back as the document it is', async () => {
    const { stdout } = await runCommand(['validate', 'config.example.yaml', '--format', 'json'], { cwd: ROOT });
    expect(countPlaces(JSON.parse(stdout))).to.deep.equal(
      new Map([...countPlaces(example)].filter(([place]) => place !== 'modules')),
    );
  });
});
