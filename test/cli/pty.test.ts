import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  atEnd,
  forSuite,
  type GatewayProcess,
  MASTER_KEY,
  NODE_ARGS,
  program,
  requireTool,
  runGw,
  startGateway,
  temporaryFolder,
} from '../kit/index.ts';

/** What a terminal gets and a pipe does not: colours, and how long ago or how far ahead a time is. */
const OF_A_TERMINAL = /\u001b\[|\((in )?\d+[dhms]( ago)?\)/;

describe('commands on a pseudo terminal', () => {
  let gateway: GatewayProcess;
  let cwd: string;

  before(function () {
    requireTool(this, 'script');
  });
  forSuite(async () => {
    cwd = await temporaryFolder();
    await writeFile(join(cwd, 'config.yaml'), 'targets: [{virtual_key: echo}]\n');
    await writeFile(join(cwd, 'new.yaml'), 'targets: [{virtual_key: echo, weight: 7}]\n');
    gateway = await startGateway({ cwd, variables: { API_KEY_STORE_BACKEND: 'sqlite' } });
    await runGw(
      [
        'admin',
        'keys',
        'create',
        '--name',
        'a-key-with-a-name-that-is-longer-than-the-terminal-is-wide',
        '--expires-in',
        '50h',
      ],
      { variables: { GW_URL: gateway.url, MASTER_KEY } },
    );
  });

  /** Runs a command on a terminal of its own, 90 columns wide, with a person who types this once they are asked. */
  async function onTerminal(
    args: readonly string[],
    { typed, variables = {} }: { readonly typed?: string; readonly variables?: Record<string, string> } = {},
  ): Promise<{ readonly code: number | null; readonly shown: string }> {
    const words = [process.execPath, ...NODE_ARGS, program(), ...args].map((word) => `'${word}'`).join(' ');
    const { PATH, HOME } = process.env;
    const child = spawn('script', ['-qec', `stty cols 90 rows 40 -echo; ${words}`, '/dev/null'], {
      cwd,
      env: { PATH, HOME, TERM: 'xterm', GW_URL: gateway.url, MASTER_KEY, ...variables },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    atEnd(() => {
      child.kill('SIGKILL');
    });
    let shown = '';
    let isAnswered = false;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text.replaceAll('\r', '');
      if (isAnswered || typed === undefined || !shown.endsWith('? [y/N] ')) return;
      isAnswered = true;
      child.stdin.write(`${typed}\n`);
    });
    const code = await new Promise<number | null>((resolve) => {
      child.on('close', resolve);
    });
    child.stdin.destroy();
    return { code, shown };
  }

  it('show colours and distances of times, and cut what is too wide; NO_COLOR takes the colours; a pipe shows none of it', async () => {
    const status = await onTerminal(['status']);
    expect(status.code).to.equal(0);
    expect(status.shown)
      .to.match(/^\u001b\[32m\[OK\]\u001b\[0m http/)
      .and.to.contain('\n  \u001b[32m[OK]\u001b[0m echo   circuit closed');
    expect((await onTerminal(['status'], { variables: { NO_COLOR: '1' } })).shown)
      .to.match(/^\[OK\] http/)
      .and.to.not.contain('\u001b');
    const list = await onTerminal(['admin', 'keys', 'list']);
    expect(list.shown)
      .to.match(/\(in 2d\)/)
      .and.to.contain('…');
    for (const line of list.shown.split('\n')) expect(line.length, line).to.be.at.most(90);
    for (const args of [['status'], ['admin', 'keys', 'list']]) {
      const { stdout } = await runGw(args, { variables: { GW_URL: gateway.url, MASTER_KEY, TERM: 'xterm' } });
      expect(stdout, args.join(' ')).to.not.match(OF_A_TERMINAL).and.to.not.contain('…');
    }
  });

  it('ask before the configuration is replaced, and do what the person says; a pipe is not asked', async () => {
    const set = ['admin', 'config', 'set', '--file', 'new.yaml'];
    const weightOf = async (): Promise<unknown> =>
      JSON.parse((await runGw(['admin', 'config', 'get'], { variables: { GW_URL: gateway.url, MASTER_KEY } })).stdout)
        .targets[0].weight;
    const refused = await onTerminal(set, { typed: 'n' });
    expect([refused.code, await weightOf()]).to.deep.equal([1, undefined]);
    expect(refused.shown)
      .to.contain('targets[0].weight\n  + 7\n')
      .and.to.contain('Replace the configuration? [y/N] ')
      .and.to.contain('Nothing was changed.');
    const agreed = await onTerminal(set, { typed: 'yes' });
    expect([agreed.code, await weightOf()]).to.deep.equal([0, 7]);
    expect(agreed.shown).to.contain('\u001b[32m[OK]\u001b[0m Configuration updated.');
    const unasked = await onTerminal([...set, '--yes']);
    expect([unasked.code, unasked.shown.includes('?')]).to.deep.equal([0, false]);
    const piped = await runGw(set, { cwd, variables: { GW_URL: gateway.url, MASTER_KEY } });
    expect([piped.code, piped.stderr]).to.deep.equal([0, '']);
    expect(piped.stdout).to.not.contain('?').and.to.not.match(OF_A_TERMINAL);
  });
});
