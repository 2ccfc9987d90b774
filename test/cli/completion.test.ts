import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { LOG_FLAGS } from '../../builtins/cli/logs/log-filters.ts';
import { KEY_MEMBER_LIST } from '../../host/common/key-members.ts';
import { COMMANDS } from '../../builtins/cli/commands.ts';
import { requireTool, temporaryFolder } from '../kit/index.ts';
import { runCommand } from './commands.ts';

const GLOBAL = ['--gateway-url', '--api-key', '--format', '--help'];

/** What bash would offer behind each of these lines. */
async function offers(...lines: readonly (readonly string[])[]): Promise<string[][]> {
  const script = join(await temporaryFolder(), 'gw.bash');
  const calls = lines.map(
    (words) =>
      `COMP_WORDS=(${['gw', ...words].map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _gw; echo "\${COMPREPLY[*]}"`,
  );
  await writeFile(script, `${(await runCommand(['completion', 'bash'])).stdout}\n${calls.join('\n')}\n`);
  const { stdout, stderr } = spawnSync('bash', ['--norc', script], { encoding: 'utf8' });
  expect(stderr).to.equal('');
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' ').filter((word) => word !== ''));
}

describe('gw completion', () => {
  it('offers what may follow: commands of a group, flags of a command', async function () {
    requireTool(this, 'bash');
    const [first = [], admin, keys, create, behind, value] = await offers(
      [''],
      ['admin', ''],
      ['admin', 'keys', 'r'],
      ['admin', 'keys', 'create', ''],
      ['--format', 'json', 'admin', 'logs', 'list', '--'],
      ['chat', '--model', 'pl'],
    );
    expect(first)
      .to.include.members(['serve', 'admin', 'import', 'help', ...GLOBAL])
      .and.to.not.include('keys')
      .and.to.not.include('--limit');
    expect(admin).to.deep.equal([
      'keys',
      'accounts',
      'config',
      'logs',
      'providers',
      'sessions',
      'audit',
      'spend',
      ...GLOBAL,
    ]);
    expect(keys).to.deep.equal(['revoke', 'rotate']);
    const flags = KEY_MEMBER_LIST.flatMap(([, { flag }]) => flag?.flags.split(' ')[0] ?? []);
    expect(create).to.deep.equal([...flags, '--every', ...GLOBAL]);
    const filters = LOG_FLAGS.map(({ flags: each }) => each.split(' ')[0]);
    expect(behind).to.deep.equal(['--limit', '--follow', ...filters, ...GLOBAL]);
    expect(value, 'the value of a flag').to.equal(undefined);
  });

  it('knows every command and flag in every shell, and refuses others by name', async () => {
    const words = COMMANDS.flatMap(({ name, options = [] }) => [
      ...name.split(' '),
      ...options.flatMap(({ flags }) => flags.match(/--[a-z-]+/g) ?? []),
    ]);
    for (const shell of ['bash', 'zsh', 'fish', 'powershell']) {
      const { code, stdout, stderr } = await runCommand(['completion', shell]);
      expect([code, stderr], shell).to.deep.equal([0, '']);
      for (const word of [...words, ...GLOBAL]) expect(stdout, shell).to.match(new RegExp(`[ "']${word}[ "'\\n]`));
      const tool = spawnSync(shell, ['-n'], { input: stdout, encoding: 'utf8' });
      if (!tool.error) expect(tool.stderr, shell).to.equal('');
    }
    const refused = await runCommand(['completion', 'tcsh']);
    expect([refused.code, refused.stdout]).to.deep.equal([1, '']);
    expect(refused.stderr).to.match(/^Error: [^\n]*"tcsh"[^\n]*bash, zsh, fish, powershell\n$/);
  });
});
