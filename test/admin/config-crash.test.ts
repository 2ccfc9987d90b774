import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { defineBuiltin } from '../../host/builtin.ts';
import { UnstoredConfiguration } from '../../host/stores/configuration-store.ts';
import {
  BIN,
  forSuite,
  type GatewayProcess,
  MASTER_KEY,
  NODE_ARGS,
  some,
  startGateway,
  startPostgres,
  temporaryFolder,
} from '../kit/index.ts';
import { ECHO, refusal, startAdmin } from './kit.ts';

const KILLER = fileURLToPath(new URL('kill-while-storing.ts', import.meta.url));
const at = (moment: string): object => ({ targets: [{ virtual_key: 'echo' }], aliases: { moment } });

async function call(url: string, method: string, path: string, body?: object): Promise<any> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${MASTER_KEY}` },
    ...(body && { body: JSON.stringify(body) }),
  });
  return response.json();
}

/** A gateway that dies while it stores certain configurations; its address. */
async function mortal(
  cwd: string,
  variables: Readonly<Record<string, string>>,
): Promise<{ url: string; died: Promise<unknown> }> {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [...NODE_ARGS, '--import', KILLER, BIN, 'serve'], {
    cwd,
    env: { PATH, HOME, PORT: '0', MASTER_KEY, ...variables },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const died = once(child, 'exit');
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stderr.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      const [, port] = /Address: +http:\/\/localhost:(\d+)/.exec(text) ?? [];
      if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
    });
    died.then(() => reject(new Error(text)), reject);
  });
  return { url, died };
}

const MOMENTS = [
  ['before', 'calm'],
  ['after', 'after'],
] as const;

function suite(
  place: () => Promise<{ cwd: string; variables: Readonly<Record<string, string>> }>,
  moments: readonly (typeof MOMENTS)[number][],
): void {
  for (const [moment, survives] of moments) {
    it(`that dies ${moment} a change is kept begins again with one of the two, and history says which`, async () => {
      const { cwd, variables } = await place();
      const { url, died } = await mortal(cwd, variables);
      await call(url, 'PUT', '/admin/config', at('calm'));
      const answer = await call(url, 'PUT', '/admin/config', at(moment)).catch(() => 'none');
      expect([answer, ((await died) as readonly unknown[])[1]]).to.deep.equal(['none', 'SIGKILL']);
      const gateway: GatewayProcess = await startGateway({ cwd, variables });
      const config = await call(gateway.url, 'GET', '/admin/config');
      expect(config.aliases).to.deep.equal({ moment: survives });
      const { data } = await call(gateway.url, 'GET', '/admin/config/history');
      expect(data.map(({ version }: any) => version)).to.deep.equal(moment === 'before' ? [1] : [1, 2]);
      expect(data.at(-1).config).to.deep.equal(config);
      expect(await call(gateway.url, 'PUT', '/admin/config', at('calm'))).to.deep.equal({ status: 'updated' });
    });
  }
}

describe('a gateway on SQLite', () =>
  suite(
    async () => {
      const cwd = await temporaryFolder();
      return { cwd, variables: { CONFIG_STORE_BACKEND: 'sqlite', CONFIG_STORE_DSN: join(cwd, 'config.db') } };
    },
    some(MOMENTS, { every: 2, from: 1 }),
  ));

describe('a gateway on Postgres', function onPostgres() {
  this.timeout(120_000);
  const server = forSuite(startPostgres);
  suite(
    async () => ({
      cwd: await temporaryFolder(),
      variables: { CONFIG_STORE_BACKEND: 'postgres', CONFIG_STORE_DSN: await server().createDatabase() },
    }),
    some(MOMENTS, { every: 2 }),
  );
});

describe('a configuration that cannot be kept', () => {
  class Failing extends UnstoredConfiguration {
    fails = false;
    override append(
      change: Parameters<UnstoredConfiguration['append']>[0],
    ): ReturnType<UnstoredConfiguration['append']> {
      return this.fails ? Promise.reject(new Error('disk full at /var/lib/gw/secret.db')) : super.append(change);
    }
    override history(): ReturnType<UnstoredConfiguration['history']> {
      return this.fails ? Promise.reject(new Error('disk full')) : super.history();
    }
  }

  it('is 500, and the one before goes on serving, for every write', async () => {
    const store = new Failing(Date.now);
    const builtin = defineBuiltin({
      name: 'failing',
      apply: ({ hooks }) =>
        hooks.open.tapPromise('failing', async ({ stores }) => stores.configuration.supply('sqlite', store)),
    });
    const t = await startAdmin({ builtins: [builtin] });
    await t.request('PUT', '/admin/config', { ...ECHO, aliases: { a: 'kept' } });
    const before = (await t.get('/admin/config')).text;
    store.fails = true;
    for (const [method, path, body] of [
      ['PUT', '/admin/config', ECHO],
      ['POST', '/admin/config', ECHO],
      ['DELETE', '/admin/config', undefined],
    ] as const) {
      const answer = await t.request(method, path, body);
      expect([refusal(answer), answer.json().error.type], method).to.deep.equal([
        [500, 'internal_error'],
        'server_error',
      ]);
      expect(answer.text).not.to.include('disk');
    }
    store.fails = false;
    expect((await t.get('/admin/config')).text).to.equal(before);
    expect((await t.get('/admin/config/history')).json().summary.total_versions).to.equal(1);
    expect((await t.trail('&outcome=error')).map(({ action }) => action)).to.deep.equal([
      'config.delete',
      'config.create',
      'config.update',
    ]);
    expect(t.lines.some(({ error }) => String(error).includes('disk full'))).to.equal(true);
    expect((await t.request('PUT', '/admin/config', ECHO)).headers.get('etag')).to.equal('"2"');
  });
});
