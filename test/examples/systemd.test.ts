import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { read } from '../architecture/source.ts';
import {
  CHAT,
  type GatewayProcess,
  MASTER_KEY,
  requireTool,
  startGateway,
  stubUpstream,
  temporaryFolder,
} from '../kit/index.ts';

const FOLDER = 'examples/deploy/systemd';
const UNIT = read(`${FOLDER}/gw.service`);
const SCRIPT = fileURLToPath(new URL(`../../${FOLDER}/install.sh`, import.meta.url));
/** Most that `systemd-analyze security` may give, in tenths: 0 is closed, 100 is open. */
const EXPOSURE = 15;
/** An answer in the common wire. */
const CHOICE = { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'hello' } };
/** Time for what is written after the last request. */
const REST_SECONDS = 15;

const settings = (name: string): string[] =>
  UNIT.split('\n').flatMap((line) => (line.startsWith(`${name}=`) ? [line.slice(name.length + 1)] : []));
const environment = (): Record<string, string> =>
  Object.fromEntries(settings('Environment').map((text) => text.split(/=(.*)/s, 2) as [string, string]));

/** The unit as systemd reads it here, where Node stands elsewhere. */
async function unitHere(): Promise<string> {
  const path = join(await temporaryFolder(), 'gw.service');
  await writeFile(path, UNIT.replaceAll('/usr/bin/node', await realpath(process.execPath)));
  return path;
}

/** The gateway with the environment, the umask and the Node options of the unit, its folders below one of the test's own. */
async function startAsUnit(folder: string, more: Record<string, string>): Promise<GatewayProcess> {
  const rebased = Object.entries(environment()).map(([name, value]) => [
    name,
    value.replace('/var/lib/gw', join(folder, 'state')).replace('/etc/gw', join(folder, 'etc')),
  ]);
  return startGateway({
    cwd: join(folder, 'state'),
    through: ['sh', '-c', `umask ${settings('UMask').join('')}; exec "$0" "$@"`],
    variables: { ...(Object.fromEntries(rebased) as Record<string, string>), MASTER_KEY, ...more },
  });
}

async function folders(): Promise<string> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'state'), { mode: 0o700 });
  await cp(fileURLToPath(new URL(`../../${FOLDER}`, import.meta.url)), join(folder, 'etc'), { recursive: true });
  return folder;
}

describe('service of systemd', () => {
  it('is a unit that systemd takes without a warning', async function () {
    const analyze = requireTool(this, 'systemd-analyze');
    const { status, stdout, stderr } = spawnSync(analyze, ['verify', await unitHere()], { encoding: 'utf8' });
    expect({ status, said: stdout + stderr }).to.deep.equal({ status: 0, said: '' });
  });

  it('has a sandbox that is nearly closed', async function () {
    const analyze = requireTool(this, 'systemd-analyze');
    const rate = (unit: string) =>
      spawnSync(analyze, ['security', '--offline=true', `--threshold=${EXPOSURE}`, unit], { encoding: 'utf8' });
    const unit = await unitHere();
    const { status, stdout } = rate(unit);
    expect(status, stdout).to.equal(0);
    await writeFile(unit, (await readFile(unit, 'utf8')).replace('SystemCallFilter=@system-service\n', ''));
    await writeFile(unit, (await readFile(unit, 'utf8')).replaceAll(/^(Protect|Private|Restrict).*\n/gm, ''));
    expect(rate(unit).status, 'an open unit').to.not.equal(0);
  });

  it('leaves V8 the memory that it writes and runs', () => {
    expect(settings('MemoryDenyWriteExecute')).to.deep.equal([]);
  });

  it('is given as long to end as its requests and what comes after them may take', () => {
    const seconds = (text = '0s'): number => Number(/^(\d+)s?$/.exec(text)?.[1]);
    const { GW_DRAIN_DELAY, GW_SHUTDOWN_TIMEOUT } = environment();
    expect(seconds(settings('TimeoutStopSec')[0])).to.equal(
      seconds(GW_DRAIN_DELAY) + seconds(GW_SHUTDOWN_TIMEOUT) + REST_SECONDS,
    );
  });

  it('sets variables that the reference has', () => {
    const pages = read('docs/configuration.md') + read('docs/providers.md');
    const ofSecrets = [...read(`${FOLDER}/gw.env`).matchAll(/^#?([A-Z][A-Z_]+)=/gm)].map(([, name]) => name);
    const names = [...Object.keys(environment()), ...ofSecrets];
    expect(names).to.include.members(['MASTER_KEY', 'GATEWAY_CONFIG', 'OPENAI_API_KEY']);
    expect(names.filter((name) => name !== 'NODE_ENV' && !pages.includes(`\`${name}\``))).to.deep.equal([]);
  });

  it('serves with the shipped configuration, and keeps keys and rows in files of its own', async () => {
    const upstream = await stubUpstream((_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'gpt', choices: [CHOICE] }));
    });
    const folder = await folders();
    const more = { OPENAI_API_KEY: 'sk-stub', OPENAI_BASE_URL: `${upstream.url}/v1` };
    const first = await startAsUnit(folder, more);
    const made = await fetch(`${first.url}/admin/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'kept' }),
    });
    const { key } = (await made.json()) as { readonly key: string };
    expect(await first.stop()).to.equal(0);
    const second = await startAsUnit(folder, more);
    const answer = await complete(second, key);
    expect(answer.status, await answer.text()).to.equal(200);
    expect(await second.stop()).to.equal(0);
    const files = await readdir(join(folder, 'state'));
    expect(files).to.include.members(['keys.db', 'config.db', 'requests.db']);
    for (const name of files) expect((await stat(join(folder, 'state', name))).mode & 0o077, name).to.equal(0);
  });

  it('ends a stream that runs before it ends itself', async () => {
    const goOn = Promise.withResolvers<void>();
    const chunk = (content: string): string =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt', choices: [{ index: 0, delta: { content } }] })}\n\n`;
    const upstream = await stubUpstream(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(chunk('before'));
      await goOn.promise;
      response.end(`${chunk('after')}data: [DONE]\n\n`);
    });
    const gateway = await startAsUnit(await folders(), {
      OPENAI_API_KEY: 'sk-stub',
      OPENAI_BASE_URL: `${upstream.url}/v1`,
    });
    const answer = await complete(gateway, MASTER_KEY, { stream: true });
    const reader = answer.body!.getReader();
    const decoder = new TextDecoder();
    let text = decoder.decode((await reader.read()).value, { stream: true });
    const exited = once(gateway.child, 'exit');
    gateway.child.kill(settings('KillSignal')[0] as NodeJS.Signals);
    goOn.resolve();
    for (let part = await reader.read(); !part.done; part = await reader.read())
      text += decoder.decode(part.value, { stream: true });
    expect(text).to.include('after').and.include('[DONE]');
    expect((await exited)[0]).to.equal(0);
  });
});

function complete(gateway: GatewayProcess, key: string, more: object = {}): Promise<Response> {
  return fetch(gateway.url + CHAT, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }], ...more }),
  });
}

describe('install script of the service', () => {
  it('shows every command without running one', async () => {
    const archive = join(await temporaryFolder(), 'gw-1.2.3.tgz');
    await writeFile(archive, '');
    const { status, stdout, stderr } = spawnSync('sh', [SCRIPT, '--dry-run', archive], { encoding: 'utf8' });
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    const commands = stdout.split('\n').filter((line) => line.startsWith('+ '));
    expect(commands.at(-1)).to.equal('+ systemctl daemon-reload');
    expect(commands.filter((line) => line.includes('npm install'))).to.deep.equal([
      `+ npm install --prefix /opt/gw --omit=dev --no-audit --no-fund ${archive}`,
    ]);
    for (const file of ['gw.service', 'gw.env', 'config.yaml', 'sysusers.conf']) expect(stdout).to.include(`/${file} `);
    expect(stdout)
      .to.match(/-g root -m 0600 \S+gw\.env /)
      .and.match(/-g gw -m 0640 \S+config\.yaml /);
  });

  for (const [what, args, code, message] of [
    ['no archive', [], 2, 'use: sh install.sh [--dry-run] <archive of npm pack>\n'],
    ['an archive that is not there', ['/missing.tgz'], 1, 'install.sh: /missing.tgz: no such file\n'],
  ] as const)
    it(`stops before the first command for ${what}`, () => {
      const { status, stdout, stderr } = spawnSync('sh', [SCRIPT, ...args], { encoding: 'utf8' });
      expect({ status, stdout, stderr }).to.deep.equal({ status: code, stdout: '', stderr: message });
    });
});
