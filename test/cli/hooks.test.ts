import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { createHostHooks } from '../../host/host-hooks.ts';
import { createGenerationHooks } from '../../host/pipeline/hooks.ts';
import { temporaryFolder } from '../kit/index.ts';
import { type CommandResult, ROOT, runCommand } from './commands.ts';

const GOLDEN = join(import.meta.dirname, 'hooks.txt');

/** `gw hooks` for the example of every key. */
async function hooksOf(...args: readonly string[]): Promise<CommandResult> {
  const cwd = await temporaryFolder();
  await copyFile(join(ROOT, 'config.example.yaml'), join(cwd, 'gw.yaml'));
  return runCommand(['hooks', '--config', 'gw.yaml', ...args], { cwd });
}

interface Row {
  readonly hook: string;
  readonly of: string;
  readonly surfaces: readonly string[] | null;
  readonly name: string | null;
  readonly stage: string | number | null;
  readonly by: string | null;
}

const withoutEnds = (text: string): string => text.replaceAll(/ +$/gm, '');

describe('gw hooks', () => {
  it('lists all taps in the order of their run as test/cli/hooks.txt has them (npm run docs:hooks writes it)', async () => {
    const { code, stdout, stderr } = await hooksOf();
    expect([code, stderr]).to.deep.equal([0, '']);
    if (process.env['GW_WRITE_DOCS']) await writeFile(GOLDEN, withoutEnds(stdout));
    expect(withoutEnds(stdout)).to.equal(await readFile(GOLDEN, 'utf8'));
  });

  it('names each hook of the host and of a configuration, tapped or not, and the builtin behind each tap', async () => {
    const { stdout } = await hooksOf('--format', 'json');
    const rows = JSON.parse(stdout) as readonly Row[];
    const named = (of: string): string[] => [...new Set(rows.filter((row) => row.of === of).map(({ hook }) => hook))];
    expect(named('host')).to.deep.equal(Object.keys(createHostHooks()));
    expect(named('configuration')).to.deep.equal(Object.keys(createGenerationHooks()));
    const tap = (hook: string, name: string): Row | undefined =>
      rows.find((row) => row.hook === hook && row.name === name);
    expect(tap('models', 'discovery')).to.include({ by: 'models', stage: null });
    expect(tap('mount', 'gemini-wire rest')).to.include({ by: 'gemini-wire', stage: 'forwarding' });
    expect(tap('upgrade', 'passthrough')).to.include({ by: 'passthrough', stage: 'forwarding' });
    expect(tap('route', 'strategy')).to.include({ by: 'host', stage: 'strategy' });
    expect(tap('route', 'key-access')).to.include({ by: 'key-access', stage: 'keyTargets' });
    expect(tap('beforeRequest', 'word-filter')).to.deep.include({ by: 'plugin' });
    expect(tap('beforeRequest', 'word-filter')?.surfaces).to.include('chat');
    expect(tap('outgoing', 'tracing')).to.equal(undefined);
  });

  it('is YAML where that is asked for', async () => {
    const { stdout } = await hooksOf('--format', 'yaml');
    expect(parse(stdout)).to.deep.equal(JSON.parse((await hooksOf('--format', 'json')).stdout));
  });

  it('follows the order of plugins in the configuration', async () => {
    const cwd = await temporaryFolder();
    const entry = (name: string, config: object): object => ({
      name,
      type: 'guardrail',
      stage: 'before_request',
      enabled: true,
      config,
    });
    const words = entry('word-filter', { blocked_words: ['x'] });
    const tokens = entry('max-token', { max_tokens: 10 });
    const order = async (plugins: readonly object[]): Promise<(string | null)[]> => {
      await writeFile(join(cwd, 'gw.json'), JSON.stringify({ targets: [{ virtual_key: 'echo' }], plugins }));
      const { stdout, stderr } = await runCommand(['hooks', '--config', 'gw.json', '--format', 'json'], { cwd });
      expect(stderr).to.equal('');
      return (JSON.parse(stdout) as readonly Row[])
        .filter(({ hook, surfaces }) => hook === 'beforeRequest' && surfaces?.includes('chat'))
        .map(({ name }) => name);
    };
    expect(await order([words, tokens])).to.deep.equal(['word-filter', 'max-token']);
    expect(await order([tokens, words])).to.deep.equal(['max-token', 'word-filter']);
  });

  it('says what is wrong with a configuration, and with a plugin that cannot be made', async () => {
    const cwd = await temporaryFolder();
    const plugin = { name: 'webhook', type: 'guardrail', stage: 'before_request', enabled: true };
    const failing = { ...plugin, config: { url: 'https://policy.example/${UNSET_PART}' } };
    for (const [config, rule] of [
      [{ strategy: { mode: 'none-such' }, targets: [{ virtual_key: 'echo' }] }, 'CV13'],
      [{ targets: [{ virtual_key: 'echo' }], plugins: [failing] }, 'PB01'],
    ] as const) {
      await writeFile(join(cwd, 'gw.json'), JSON.stringify(config));
      const { code, stdout, stderr } = await runCommand(['hooks', '--config', 'gw.json'], { cwd });
      expect([code, stdout]).to.deep.equal([1, '']);
      expect(stderr).to.include(rule);
    }
  });
});
