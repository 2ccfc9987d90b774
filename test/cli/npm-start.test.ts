import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { read } from '../architecture/source.ts';
import { atEnd, NODE_ARGS, temporaryFolder } from '../kit/index.ts';

const SCRIPT = fileURLToPath(new URL('../../host/keep-data.js', import.meta.url));

interface Started {
  readonly url: string;
  /** The master key that it made for this run. */
  readonly masterKey: string;
  stop(): Promise<void>;
}

/** What `npm start` runs, in a folder of its own. */
async function start(cwd: string, variables: Record<string, string> = {}): Promise<Started> {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [...NODE_ARGS, SCRIPT, 'serve'], {
    cwd,
    env: { PATH, HOME, PORT: '0', ...variables },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'close');
  atEnd(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  let stderr = '';
  for await (const text of child.stderr.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    stderr += text as string;
    if (/Try it:\n.*\n/.test(stderr)) break;
  }
  child.stderr.resume();
  return {
    url: `http://127.0.0.1:${/localhost:(\d+)/.exec(stderr)?.[1] ?? ''}`,
    masterKey: /Master key: (gw_\w+)/.exec(stderr)?.[1] ?? '',
    stop: async () => {
      child.kill('SIGTERM');
      expect((await exited)[0], stderr).to.equal(0);
    },
  };
}

async function call(
  url: string,
  key: string,
  body?: object,
): Promise<{ readonly status: number; readonly key?: string }> {
  const answer = await fetch(url, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${key}` },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { ...((await answer.json()) as object), status: answer.status };
}

describe('npm start', function npmStart() {
  this.timeout(60_000);

  it('runs the gateway by a script that says where it keeps its data', () => {
    const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
    expect(scripts['start']).to.equal('node host/keep-data.js serve');
    expect(read('.gitignore').split('\n')).to.include('.data/');
  });

  it('keeps keys and a row of each request over a restart, in files of their own for their owner alone', async () => {
    const cwd = await temporaryFolder();
    const rows = async ({ url, masterKey }: Started): Promise<unknown> =>
      (
        (await call(`${url}/admin/logs`, masterKey)) as { readonly data?: readonly { readonly stage: string }[] }
      ).data?.map(({ stage }) => stage);
    const first = await start(cwd);
    const made = await call(`${first.url}/admin/keys`, first.masterKey, { name: 'mine' });
    expect(made.status).to.equal(201);
    const models = (
      (await call(`${first.url}/v1/models`, first.masterKey)) as { readonly data?: readonly { readonly id: string }[] }
    ).data;
    const chat = { model: models?.[0]?.id ?? '', messages: [{ role: 'user', content: 'hello' }] };
    expect((await call(`${first.url}/v1/chat/completions`, first.masterKey, chat)).status).to.equal(200);
    expect(
      (await call(`${first.url}/v1/chat/completions`, first.masterKey, { ...chat, model: 'unknown' })).status,
    ).to.equal(404);
    await first.stop();
    const second = await start(cwd);
    expect(await rows(second)).to.deep.equal(['on_error', 'after_request']);
    expect(second.masterKey).not.to.equal(first.masterKey);
    expect((await call(`${second.url}/v1/models`, made.key ?? '')).status).to.equal(200);
    const files = await readdir(join(cwd, '.data'));
    expect(files).to.include.members(['keys.db', 'keys-sessions.db', 'keys-audit.db', 'config.db', 'requests.db']);
    for (const name of files) expect((await stat(join(cwd, '.data', name))).mode & 0o777, name).to.equal(0o600);
    expect((await stat(join(cwd, '.data'))).mode & 0o777).to.equal(0o700);
    await second.stop();
  });

  it('leaves it to the environment where that says anything', async () => {
    const cwd = await temporaryFolder();
    const started = await start(cwd, {
      API_KEY_STORE_BACKEND: 'memory',
      CONFIG_STORE_BACKEND: 'memory',
      REQUEST_LOG_STORE_BACKEND: 'sqlite',
      REQUEST_LOG_STORE_DSN: join(cwd, 'rows.db'),
    });
    expect(existsSync(join(cwd, '.data'))).to.equal(false);
    await started.stop();
  });
});
