import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { type GatewayProcess, inSoak, MASTER_KEY, startGateway, temporaryFolder } from '../kit/index.ts';
import { runCommand } from './commands.ts';

const NO_KEY = { MASTER_KEY: '' };

/** stderr once the banner is complete: log lines and banner travel on two pipes. */
async function bannerOf(gateway: GatewayProcess): Promise<string> {
  while (!/^ *Address: .*\n(?:.*\n)*\n$/m.test(gateway.stderr()) && gateway.child.stderr)
    await once(gateway.child.stderr, 'data');
  return gateway.stderr();
}

const line = (gateway: GatewayProcess, message: string): Record<string, any> =>
  gateway.lines.find(({ msg }) => msg === message) ?? {};

/** Runs a line as a shell does into which it was pasted. */
async function paste(command: string, env: Record<string, string> = {}): Promise<string> {
  const { PATH } = process.env;
  const { stdout } = await promisify(execFile)('sh', ['-c', command], { env: { PATH, ...env }, timeout: 60_000 });
  return stdout;
}

describe('a first start, with no configuration and no credential', () => {
  it('serves the offline provider, and its banner has the address, a new key and a curl line that works when pasted', async () => {
    const gateway = await startGateway({ cwd: await temporaryFolder(), variables: NO_KEY });
    expect(line(gateway, 'active config resolved')).to.include({
      source: 'defaults',
      strategy: 'fallback',
      targets: 1,
    });
    const banner = await bannerOf(gateway);
    expect(banner).to.match(/^gw /).and.to.contain(gateway.url.replace('127.0.0.1', 'localhost'));
    expect(banner).to.match(/Master key: gw_[0-9a-f]{32}\b/);
    expect(banner)
      .to.match(/^ +\[OK\] echo$/m)
      .and.to.match(/^ +1 providers \| strategy fallback \| 0 plugins$/m);
    expect(line(gateway, 'gw started')).to.include({ providers: 'echo' });
    const page = /^ *Dashboard: +(http:\/\/localhost:\d+\/) /m.exec(banner)?.[1] ?? '';
    expect(page).to.equal(`${gateway.url.replace('127.0.0.1', 'localhost')}/`);
    const curl = /^ *(curl .+)$/m.exec(banner)?.[1] ?? '';
    const reply = JSON.parse(await paste(`${curl} --silent`)) as Record<string, any>;
    expect(reply['choices'][0].message).to.deep.equal({ role: 'assistant', content: 'Hello, gateway!' });
    expect(reply['provider']).to.equal('echo');
  });

  it('tells the key on stderr alone: stdout is JSON log lines without it', async () => {
    const gateway = await startGateway({ cwd: await temporaryFolder(), variables: { ...NO_KEY, LOG_LEVEL: 'debug' } });
    const key = /Master key: (gw_[0-9a-f]{32})/.exec(await bannerOf(gateway))?.[1] ?? 'no key';
    await fetch(`${gateway.url}/v1/models?api_key=${key}`, { headers: { authorization: `Bearer ${key}` } });
    expect(await gateway.stop()).to.equal(0);
    expect(gateway.lines).to.not.be.empty;
    for (const each of gateway.lines) expect(each).to.have.all.keys(...Object.keys(each), 'level', 'time', 'msg');
    expect(JSON.stringify(gateway.lines)).to.not.contain(key.slice(3));
  });

  it('makes another key at each start, and no other opens it', async () => {
    const cwd = await temporaryFolder();
    const [first, second] = [
      await startGateway({ cwd, variables: NO_KEY }),
      await startGateway({ cwd, variables: NO_KEY }),
    ];
    const [one, two] = [await bannerOf(first), await bannerOf(second)].map((text) => /gw_[0-9a-f]{32}/.exec(text)?.[0]);
    expect(one).to.not.equal(two);
    const statusWith = async (key = ''): Promise<number> =>
      (await fetch(`${first.url}/v1/no-such-route`, { headers: { authorization: `Bearer ${key}` } })).status;
    expect(await statusWith(two)).to.equal(401);
    expect(await statusWith(one)).to.not.equal(401);
  });

  it('is the same for gw without a command', async () => {
    const { code, stdout, stderr, lines } = await runCommand([], { variables: { PORT: '0' } });
    expect(code).to.equal(0);
    expect(stdout).to.equal('');
    expect(stderr).to.match(/Master key: gw_[0-9a-f]{32}\b/);
    expect(lines.map(({ msg }) => msg as string)).to.include('gw started');
  });

  inSoak('ends with 0 on SIGINT and on SIGTERM', async () => {
    const cwd = await temporaryFolder();
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      expect(await (await startGateway({ cwd })).stop(signal), signal).to.equal(0);
  });
});

describe('a start with a key of its own', () => {
  it('prints no key: the curl line takes it from MASTER_KEY', async () => {
    const gateway = await startGateway({ cwd: await temporaryFolder() });
    const banner = await bannerOf(gateway);
    expect(banner).to.not.contain(MASTER_KEY);
    const curl = /^ *(curl .+)$/m.exec(banner)?.[1] ?? '';
    const reply = JSON.parse(await paste(`${curl} --silent`, { MASTER_KEY })) as Record<string, any>;
    expect(reply['choices'][0].message.content).to.equal('Hello, gateway!');
  });
});

describe('a start with a provider credential and no configuration', () => {
  it('makes a target of that provider and none of the offline one', async () => {
    const gateway = await startGateway({
      cwd: await temporaryFolder(),
      variables: { ...NO_KEY, OPENAI_API_KEY: 'sk-none' },
    });
    expect(line(gateway, 'active config resolved')).to.include({
      source: 'defaults',
      strategy: 'fallback',
      targets: 1,
    });
    expect(line(gateway, 'gw started')).to.include({ providers: 'openai' });
    const banner = await bannerOf(gateway);
    expect(banner).to.contain('[OK] openai');
    expect(banner).to.match(/Master key: gw_[0-9a-f]{32}\b/);
    expect(banner, 'a line with the new key all the same').to.match(/^ *curl .*gw_[0-9a-f]{32}/m);
  });

  it('puts the provider that a region alone registers last', async () => {
    const { lines } = await runCommand(['serve'], {
      variables: { PORT: '0', AWS_REGION: 'us-east-1', OPENAI_API_KEY: 'sk-none', MISTRAL_API_KEY: 'none' },
    });
    expect(lines.find(({ msg }) => msg === 'gw started')?.['providers']).to.equal('mistral, openai, bedrock');
  });
});

describe('a start with a configuration file and no key', () => {
  it('makes none, and says in an error line that nothing can authenticate', async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'config.yaml'), 'targets: [{virtual_key: echo}]\n');
    const gateway = await startGateway({ cwd, variables: NO_KEY });
    const banner = await bannerOf(gateway);
    expect(banner).to.not.match(/gw_[0-9a-f]{32}/);
    expect(banner).to.contain('gw init').and.to.contain('config.yaml');
    expect(
      gateway.lines
        .filter(({ level }) => level === 'ERROR')
        .map(({ msg }) => msg as string)
        .join('\n'),
    ).to.contain('MASTER_KEY');
    expect(
      (await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers: { authorization: 'Bearer ' } }))
        .status,
    ).to.equal(401);
    expect((await fetch(`${gateway.url}/livez`)).status).to.equal(200);
  });
});

describe('a start with a key that few clients can send', () => {
  it('says so, and does not show it', async () => {
    for (const [key, isWarned] of [
      ['Schlüssel-zum-Gateway', true],
      ['two\tcolumns', true],
      ['two words', false],
    ] as const) {
      const { lines, stderr } = await runCommand(['serve'], { variables: { PORT: '0', MASTER_KEY: key } });
      const said = lines.filter(({ level, msg }) => level === 'WARN' && String(msg).includes('MASTER_KEY'));
      expect(said.length, key).to.equal(isWarned ? 1 : 0);
      expect(JSON.stringify(lines) + stderr).to.not.contain(key);
    }
  });
});

describe('a first start in production', () => {
  it('makes no key and no target, and names the variables that are missing', async () => {
    const gateway = await startGateway({
      cwd: await temporaryFolder(),
      variables: { ...NO_KEY, GATEWAY_ENV: 'production' },
    });
    const banner = await bannerOf(gateway);
    expect(banner).to.not.match(/gw_[0-9a-f]{32}/);
    expect(banner).to.not.match(/^ *curl /m);
    expect(banner).to.contain('gw init');
    expect(line(gateway, 'active config resolved')).to.include({ source: 'defaults', targets: 0 });
    const errors = gateway.lines
      .filter(({ level }) => level === 'ERROR')
      .map((each) => JSON.stringify(each))
      .join('\n');
    expect(errors).to.contain('OPENAI_API_KEY').and.to.contain('MASTER_KEY');
    expect((await fetch(`${gateway.url}/health`)).status).to.equal(503);
    expect((await fetch(`${gateway.url}/readyz`)).status).to.equal(503);
  });
});
